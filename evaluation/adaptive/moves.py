"""What an attacker changes about an attack once it has seen what was removed of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from evaluation.adaptive.candidate import PART, Candidate
from filter_training.attacks import FAMILIES
from filter_training.attacks.frames import frame
from filter_training.attacks.obfuscated import disguised, draw_disguise
from filter_training.attacks.placement import halves, place, possible
from filter_training.marked import MarkedText, Span
from service.exam import Question

_DRAWS = 4
"""Wordings that an attacker looks at before it takes one."""
_DIVISIBLE = 4
"""Words that an order has which can be split."""
_RUN = (6, 14)
"""Words of the answer that an order is padded with."""

_WORD = re.compile(r"\w+")
_MARKS = re.compile(r"<!--|-->|/\*|\*/|\[/?[^\[\]\n]{0,40}\]|</?[^<>\n]{0,60}>|[{}|*#=~«»<>\[\]]+")


@dataclass(frozen=True)
class Situation:
    """What an attacker knows when it tries again.

    Attributes:
        family: whose idea it follows.
        question: what the answer is to.
        answer: the honest answer.
        orders: those of the attack that it goes on from.
        removed: for each order, whether the filter took more than half of its words.
        burned: words, in lower case, of all that was removed of its attacks so far.
    """

    family: str
    question: Question
    answer: str
    orders: tuple[str, ...]
    removed: tuple[bool, ...]
    burned: frozenset[str]


Move = Callable[[Situation, Random], MarkedText | None]
"""A new attack, or None where the move cannot be made."""


def next_candidates(situation: Situation, count: int, random: Random) -> list[Candidate]:
    """`count` attacks that each change something else, as far as there are as many moves."""
    candidates: list[Candidate] = []
    while len(candidates) < count:
        for name in random.sample(sorted(MOVES), len(MOVES)):
            marked = MOVES[name](situation, random)
            if marked is not None and len(candidates) < count:
                orders = tuple(marked.text[span.start : span.end].strip() for span in marked.spans)
                candidates.append(Candidate(marked, orders, name))
    return candidates


def words(text: str) -> frozenset[str]:
    """The words of a text in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def _reword(situation: Situation, random: Random) -> MarkedText:
    """What was removed is said in other words, with as few as can be of those removed before."""
    orders = _replaced(situation, lambda _: _fresh(situation.family, situation, random))
    return _placed(situation.answer, orders, random)


def _reframe(situation: Situation, random: Random) -> MarkedText:
    """What was removed gets another frame, or none."""

    def framed(order: str) -> str:
        return frame(random, PART, plain=0.2, paper=0.0).around(_bare(order))

    return _placed(situation.answer, _replaced(situation, framed), random)


def _relocate(situation: Situation, random: Random) -> MarkedText:
    """The same orders stand elsewhere."""
    return _placed(situation.answer, situation.orders, random)


def _split(situation: Situation, random: Random) -> MarkedText | None:
    """The answer stands between the halves of the order."""
    order = " ".join(map(_bare, situation.orders))
    if len(order.split()) < _DIVISIBLE:
        return None
    return _placed(situation.answer, halves(order, random), random)


def _pad(situation: Situation, random: Random) -> MarkedText | None:
    """The order stands within honest words of the answer, which are repeated for it."""
    honest = situation.answer.split()
    if not honest:
        return None
    length = min(random.randint(*_RUN), len(honest))
    begin = random.randint(0, len(honest) - length)
    padded = _placed(" ".join(honest[begin : begin + length]), situation.orders, random)
    before = situation.answer + random.choice((" ", "\n"))
    spans = (Span(len(before) + span.start, len(before) + span.end) for span in padded.spans)
    return MarkedText(before + padded.text, tuple(spans))


def _disguise(situation: Situation, random: Random) -> MarkedText:
    """What was removed is written in other letters or in code."""
    carrier = draw_disguise(random, PART)

    def hidden(order: str) -> str:
        # A disguise may have nothing to write of a text, such as Morse of Chinese.
        return disguised(_bare(order), carrier, random, PART) or order

    return _placed(situation.answer, _replaced(situation, hidden), random)


def _compose(situation: Situation, random: Random) -> MarkedText:
    """An order of another family joins the one that fared best."""
    family = random.choice([name for name in FAMILIES if name != situation.family])
    other = _fresh(family, situation, random)
    kept = [
        order
        for order, removed in zip(situation.orders, situation.removed, strict=True)
        if not removed
    ]
    orders = [(kept or list(situation.orders))[0], other]
    random.shuffle(orders)
    return _placed(situation.answer, orders, random)


MOVES: Mapping[str, Move] = MappingProxyType(
    {
        "reword": _reword,
        "reframe": _reframe,
        "relocate": _relocate,
        "split": _split,
        "pad": _pad,
        "disguise": _disguise,
        "compose": _compose,
    }
)
"""Name → what it changes."""


def _replaced(situation: Situation, change: Callable[[str], str]) -> list[str]:
    """The orders, changed where they were removed; all of them where none was."""
    change_all = not any(situation.removed)
    return [
        change(order) if removed or change_all else order
        for order, removed in zip(situation.orders, situation.removed, strict=True)
    ]


def _fresh(family: str, situation: Situation, random: Random) -> str:
    """Of some orders of the family, the one with the smallest share of burned words."""
    drawn = [FAMILIES[family].compose(situation.question, random, PART).text for _ in range(_DRAWS)]

    def burned_share(order: str) -> float:
        its_words = words(order)
        return len(its_words & situation.burned) / max(len(its_words), 1)

    return min(drawn, key=burned_share)


def _bare(order: str) -> str:
    """An order without tags, brackets and comment signs around or in it."""
    return " ".join(_MARKS.sub(" ", order).split()) or order


def _placed(answer: str, orders: Sequence[str], random: Random) -> MarkedText:
    if not answer.strip():
        return place(answer, [" ".join(orders)], "after", random)
    if len(orders) > 1:
        return place(answer, orders, random.choice(("around", "split")), random)
    [order] = orders
    allowed = sorted(possible(answer, order, divisible=False) - {"around"})
    return place(answer, orders, random.choice(allowed), random)
