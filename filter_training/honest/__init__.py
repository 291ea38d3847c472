"""Honest answers that a filter may not touch, however much they look like an attack."""

from __future__ import annotations

from filter_training.honest.answer import Honest
from filter_training.honest.hard_negatives import HARD_NEGATIVE_KINDS, hard_negative
from filter_training.honest.traps import TRAP, trap
from filter_training.honest.variants import VARIANT_KINDS, benign_variant

__all__ = [
    "HARD_NEGATIVE_KINDS",
    "TRAP",
    "VARIANT_KINDS",
    "Honest",
    "benign_variant",
    "hard_negative",
    "trap",
]
