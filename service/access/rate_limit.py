"""How often one key may ask."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable

_MINUTE_S = 60.0


class RateLimit:
    """At most so many requests of each key in any minute. Not safe to use from many threads.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._passed: defaultdict[str, deque[float]] = defaultdict(deque)

    def take(self, key: str, per_minute: int) -> float:
        """Count a request.

        Args:
            key: whose request it is.
            per_minute: how many of this key may pass; always the same for one key.

        Returns:
            0 where it may pass, else how many seconds to wait; then it does not count.
        """
        now = self._clock()
        passed = self._passed[key]
        while passed and passed[0] <= now - _MINUTE_S:
            passed.popleft()
        if len(passed) == per_minute:
            return passed[0] + _MINUTE_S - now
        passed.append(now)
        return 0.0
