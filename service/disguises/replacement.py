"""What a rule says about a text: which parts of it read as something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replacement:
    """[start, end) of a text, non-empty, is read as `text`; an empty `text` hides it."""

    start: int
    end: int
    text: str


Rule = Callable[[str], Iterator[Replacement]]
"""Yields replacements that are ascending and disjoint."""
