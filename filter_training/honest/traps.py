"""An exam answer with an honest sentence in it that resembles an attack."""

from __future__ import annotations

import re
from random import Random

from filter_training.honest.answer import Honest
from filter_training.honest.grammar import expand
from filter_training.honest.topics import read
from filter_training.marked import Part
from service.exam import Question

TRAP = "honest_trap"
"""The kind of an exam answer with a trap."""

_GAP = re.compile(r"(?<=[.!?])[ \t]+(?=\S)|\n+(?=\S)")


def trap(question: Question, answer: str, random: Random, part: Part) -> Honest:
    """`answer` with an honest sentence in front, at the end or between sentences or lines."""
    text = answer.strip()
    sentence = expand("‹trap›", read("traps").rules[part], random)
    if not text:
        return Honest(question, sentence, TRAP)
    closed = sentence.endswith((".", "!", "?"))
    gap = random.choice((" ", " ", "\n")) if closed else "\n"
    place = random.choice(("front", "end", "between", "between"))
    gaps = list(_GAP.finditer(text)) if place == "between" else []
    if gaps:
        at = random.choice(gaps)
        gap = at[0] if "\n" in at[0] else gap
        text = f"{text[: at.start()]}{gap}{sentence}{gap}{text[at.end() :]}"
    elif place == "front":
        text = f"{sentence}{gap}{text}"
    else:
        text = f"{text}{gap}{sentence}"
    return Honest(question, text, TRAP)
