"""A family of attacks: one idea of how to control a grader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from filter_training.attacks.order import Order
from filter_training.attacks.placement import ANYWHERE
from filter_training.marked import Part
from service.exam import Question

Compose = Callable[[Question, Random, Part], Order]


@dataclass(frozen=True)
class Family:
    """How the orders of one attack_type are made.

    Attributes:
        name: the attack_type.
        description: one line, which docs/training.md has too.
        compose: draws an order.
        placements: placement → weight.
    """

    name: str
    description: str
    compose: Compose
    placements: Mapping[str, int] = field(default_factory=lambda: ANYWHERE)
