"""Repeats, taken in turns, so that what slows the machine slows every contender."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from time import perf_counter
from typing import ParamSpec, Protocol, TypeVar

from service.errors import SteadyEvalError

_LONG_SECONDS = 60.0
_FEWEST = 2

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Timed(Protocol):
    """One repeat of something."""

    @property
    def seconds(self) -> float:
        """How long it took, without what was prepared for it."""


_Timed = TypeVar("_Timed", bound=Timed)


@dataclass(frozen=True)
class Seconds:
    """A repeat of which nothing but its time is of interest."""

    seconds: float


def timed(function: Callable[[], object]) -> Seconds:
    """How long one call takes."""
    began = perf_counter()
    function()
    return Seconds(perf_counter() - began)


def milliseconds(repeats: Sequence[Timed], answers: int) -> tuple[float, ...]:
    """What each of so many answers took in each repeat."""
    return tuple(each.seconds * 1000 / answers for each in repeats)


def race(contenders: Mapping[str, Callable[[], _Timed]], rounds: int) -> dict[str, list[_Timed]]:
    """All repeats of each contender, of which each is called once a round.

    Args:
        contenders: what is repeated, by name.
        rounds: repeats; two of a contender that once took a minute or more.
    """
    repeats: dict[str, list[_Timed]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            done = repeats[name]
            if len(done) < _FEWEST or max(each.seconds for each in done) < _LONG_SECONDS:
                done.append(run())
    return repeats


def in_new_process(
    function: Callable[_Arguments, _Result], *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Result:
    """The function's result, from a process in which nothing has happened yet."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_call, partial(function, *args, **kwargs)).result()


def _call(job: Callable[[], _Result]) -> _Result:
    try:
        return job()
    except SteadyEvalError as error:
        # Not all of these can go from one process to another.
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def peak_bytes() -> int:
    """The most memory that this process ever had resident.

    On Linux it is at least what the process that started this one had.
    """
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
