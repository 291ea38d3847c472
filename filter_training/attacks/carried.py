"""What a disguise may hold: orders of all kinds."""

from __future__ import annotations

from random import Random

from filter_training.attacks.classes import FAKE_RUBRICS, ROLE_PLAYS
from filter_training.attacks.order import worded
from filter_training.attacks.persuasion import AUTHORITY, PLEAS, REMARKS
from filter_training.attacks.spoofing import SOLUTIONS, VERDICTS
from filter_training.attacks.tricks import TO_FILTER
from filter_training.attacks.words import ORDERS
from filter_training.attacks.written import draws_written, written
from filter_training.marked import Part
from service.exam import Question

_PLAIN = ("coercive_suffix", ORDERS)
_OTHERS = (
    ("fake_rubric", FAKE_RUBRICS),
    ("role_play", ROLE_PLAYS),
    ("authority", AUTHORITY),
    ("plea", PLEAS),
    ("markerless", REMARKS),
    ("fake_solution", SOLUTIONS),
    ("fake_verdict", VERDICTS),
    ("filter_order", TO_FILTER),
)
_LONGEST = 240
"""Code points of a whole text that is carried; codes make a text much longer."""


def any_order(question: Question, random: Random, part: Part) -> tuple[str, frozenset[str]]:
    """A plain order, or one time in three a text of another kind; and whose wording it is."""
    family, wordings = _PLAIN if random.random() < 2 / 3 else random.choice(_OTHERS)
    if draws_written(family, random, part):
        text = written(family, question, random)
        if len(text) <= _LONGEST and "\n" not in text:
            return text, frozenset({family})
    return worded(wordings.of(part), question, random), frozenset({family})
