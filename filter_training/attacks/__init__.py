"""Attacks on the grader in a student's answer: the paper's four texts and families around them."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from types import MappingProxyType

from filter_training.attacks.classes import CLASSES
from filter_training.attacks.family import Family
from filter_training.attacks.hidden import HIDDEN
from filter_training.attacks.languages import LANGUAGES
from filter_training.attacks.obfuscated import OBFUSCATED
from filter_training.attacks.order import Order
from filter_training.attacks.paper import CLEAN, PAPER_ATTACKS, attacked
from filter_training.attacks.persuasion import PERSUASION
from filter_training.attacks.placement import PLACEMENTS, halves, place, possible
from filter_training.attacks.spoofing import SPOOFING
from filter_training.attacks.templates import TEMPLATES
from filter_training.attacks.tricks import TRICKS
from filter_training.attacks.written import draws_written, written_order
from filter_training.marked import Attack, Part
from service.exam import Question

__all__ = [
    "CLEAN",
    "FAMILIES",
    "PAPER_ATTACKS",
    "PLACEMENTS",
    "attacked",
    "make_attack",
]

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            *CLASSES,
            *SPOOFING,
            *TEMPLATES,
            *HIDDEN,
            *OBFUSCATED,
            *LANGUAGES,
            *PERSUASION,
            *TRICKS,
        )
    }
)
"""attack_type → family."""


def make_attack(family: str, question: Question, answer: str, random: Random, part: Part) -> Attack:
    """`answer` with an attack of the family in it.

    Args:
        family: a name in `FAMILIES`.
        question: what the answer is to; its best score is what an order may ask for.
        answer: the honest answer; may be empty.
        random: decides everything else; the same state makes the same attack.
        part: where wording, language and carrier are drawn from.
    """
    made = FAMILIES[family]
    order = _order(made, question, random, part)
    allowed = possible(answer, order.text, divisible=order.divisible)
    weights = {name: weight for name, weight in made.placements.items() if name in allowed}
    placement = random.choices(list(weights), list(weights.values()))[0]
    orders: tuple[str, ...] = (order.text,)
    borrowed = order.borrowed
    if placement == "split":
        orders = halves(order.text, random)
    elif placement == "around":
        other = _order(made, question, random, part)
        alike = (other.carrier, other.language) == (order.carrier, order.language)
        orders = (order.text, other.text if alike else order.text)
        borrowed |= other.borrowed
    marked = place(answer, orders, placement, random)
    return Attack(marked, family, part, placement, order.carrier, order.language, borrowed)


def _order(family: Family, question: Question, random: Random, part: Part) -> Order:
    """What the family injects: made by its grammars or, where training draws, a whole text."""
    if draws_written(family.name, random, part):
        return written_order(family.name, question, random)
    return family.compose(question, random, part)
