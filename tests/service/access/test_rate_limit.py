from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.access import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_who_asks_too_often_is_told_when_the_next_request_may_pass() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    assert limit.take("a", 2) == 0
    clock.now += 10
    assert limit.take("a", 2) == 0
    clock.now += 20
    assert limit.take("a", 2) == 30
    clock.now += 30
    assert limit.take("a", 2) == 0
    assert limit.take("a", 2) == 10


def test_keys_do_not_share_a_limit() -> None:
    limit = RateLimit(Clock())
    assert limit.take("a", 1) == limit.take("b", 2) == 0
    assert (limit.take("a", 1), limit.take("b", 2)) == (60, 0)
    assert limit.take("b", 2) == 60


@given(st.integers(1, 6), st.lists(st.integers(0, 40), max_size=60))
def test_no_minute_has_more_than_the_limit_and_who_waits_as_told_passes(
    per_minute: int, pauses: list[int]
) -> None:
    clock = Clock()
    limit = RateLimit(clock)
    passed: list[float] = []
    for pause in pauses:
        clock.now += pause
        if wait := limit.take("a", per_minute):
            assert 0 < wait <= 60
            clock.now += wait
            assert limit.take("a", per_minute) == 0
        passed.append(clock.now)
    for first, next_allowed in zip(passed, passed[per_minute:], strict=False):
        assert next_allowed - first >= 60
