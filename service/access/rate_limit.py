"""How often one key may ask."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable

_MINUTE_S = 60.0


class RateLimit:
    """At most `per_minute` requests of each key in any minute. Not safe to use from many threads.

    Args:
        per_minute: how many of one key may pass.
        clock: seconds that never go back.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._passed: defaultdict[str, deque[float]] = defaultdict(deque)

    def take(self, key: str) -> float:
        """Count a request.

        Returns:
            0 where it may pass, else how many seconds to wait; then it does not count.
        """
        now = self._clock()
        passed = self._passed[key]
        while passed and passed[0] <= now - _MINUTE_S:
            passed.popleft()
        if len(passed) == self._per_minute:
            return passed[0] + _MINUTE_S - now
        passed.append(now)
        return 0.0
