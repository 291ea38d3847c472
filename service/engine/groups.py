"""Which rows a model reads at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

TOKENS_AT_ONCE = 16_384
"""Most tokens that are read at once, with what fills up the shorter rows."""

_Row = TypeVar("_Row")


def grouped(
    rows: Iterable[_Row], together: Callable[[Sequence[_Row]], bool]
) -> Iterator[list[_Row]]:
    """Consecutive rows in groups, each as large as `together` allows, and one row at least."""
    group: list[_Row] = []
    for row in rows:
        if group and not together([*group, row]):
            yield group
            group = []
        group.append(row)
    if group:
        yield group
