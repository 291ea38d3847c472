from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from benchmarks.measure import Seconds, in_new_process, milliseconds, peak_bytes, race
from service.errors import PromptTooLongError


def contender(name: str, seconds: float, calls: list[str]) -> Callable[[], Seconds]:
    def run() -> Seconds:
        calls.append(name)
        return Seconds(seconds)

    return run


def test_contenders_take_turns() -> None:
    calls: list[str] = []
    repeats = race({name: contender(name, 1, calls) for name in "ab"}, rounds=3)
    assert calls == ["a", "b"] * 3
    assert repeats == {name: [Seconds(1)] * 3 for name in "ab"}


def test_what_takes_a_minute_is_repeated_once_only() -> None:
    calls: list[str] = []
    race({"short": contender("short", 59, calls), "long": contender("long", 60, calls)}, rounds=5)
    assert (calls.count("short"), calls.count("long")) == (5, 2)


def test_time_of_an_answer() -> None:
    assert milliseconds([Seconds(2), Seconds(3)], answers=4) == (500, 750)


def test_a_new_process_is_another_one() -> None:
    assert in_new_process(os.getpid) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        in_new_process(divmod, 1, 0)


def test_what_the_service_refuses_is_told_by_another_process() -> None:
    with pytest.raises(RuntimeError, match="PromptTooLongError: an answer"):
        in_new_process(refuse)


def refuse() -> None:
    raise PromptTooLongError("an answer", 5, 4)


def test_peak_memory_is_of_the_process_that_asks() -> None:
    # From a process that is small itself, whatever the tests before have needed.
    before = in_new_process(in_new_process, peak_after_holding, 0)
    assert in_new_process(in_new_process, peak_after_holding, 2**28) > before + 2**27


def peak_after_holding(count: int) -> int:
    held = bytearray(b"1") * count
    assert len(held) == count
    return peak_bytes()
