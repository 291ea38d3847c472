"""An attacked answer that an attacker tries, and how the first one is made."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from filter_training.attacks import PAPER_ATTACKS, make_attack
from filter_training.attacks.paper import paper_attack
from filter_training.marked import MarkedText, Part
from service.exam import Question

PART = Part.HELD_OUT
"""Attackers use wordings and carriers that no filter is trained on."""


@dataclass(frozen=True)
class Candidate:
    """An attacked answer.

    Attributes:
        marked: the text; its spans are the orders with their separators.
        orders: the orders, one or two, as they stand in the text.
        move: how it was made from the one before; `start` for the first.
    """

    marked: MarkedText
    orders: tuple[str, ...]
    move: str


def start(family: str, question: Question, answer: str, random: Random) -> Candidate:
    """The attack that is tried first: the paper's text where the family is one of its four."""
    attack = (
        paper_attack(family, answer)
        if family in PAPER_ATTACKS
        else make_attack(family, question, answer, random, PART)
    )
    marked = attack.marked
    orders = tuple(marked.text[span.start : span.end].strip() for span in marked.spans)
    return Candidate(marked, orders, "start")
