"""How far a long measurement is, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

_LINES = 20
"""Lines of progress where there is no terminal to draw a bar on."""


@contextmanager
def progress(console: Console, total: int, *, doing: str) -> Iterator[Callable[[int], None]]:
    """What takes the number of pieces done: a bar on a terminal, else a line now and then."""
    if not console.is_terminal:
        yield _Lines(console, total)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.update(task, completed=done)


class _Lines:
    """Progress as lines, each with the time that is left at the pace so far."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._started: tuple[float, int] | None = None
        self._said = 0

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if self._started is None:
            # Results of an earlier call say nothing about the pace of this one.
            self._started = (now, done)
        start, known = self._started
        step = done * _LINES // max(self._total, 1)
        if step == self._said or done == known:
            return
        self._said = step
        left = (now - start) / (done - known) * (self._total - done)
        self._console.print(f"{done}/{self._total}, {left / 60:.0f} min left", highlight=False)
