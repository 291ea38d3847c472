"""Which requests to grade are let in, and for how long: places are few, and time has an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.types import Receive

from service.errors import ClientGoneError, NotReadyError, OverloadedError
from service.observability import metrics
from service.patience import Patience, limited_by

_Result = TypeVar("_Result")


class Admission:
    """Runs the work of requests on threads of their own; for one event loop.

    A place is free again as soon as the work has ended: because it is done, its deadline has
    passed, its client hung up, or the service stops. What is being recorded is never broken off.

    Args:
        places: most requests that run or wait for the model.
        seconds: from a request's admission to its deadline.
    """

    def __init__(self, places: int, seconds: float) -> None:
        self._places = places
        self._seconds = seconds
        # The limit is held here, by refusing; a place has its thread.
        self._threads = CapacityLimiter(places)
        self._admitted: set[Patience] = set()
        self._lock = Lock()

    async def run(self, work: Callable[[], _Result], receive: Receive) -> _Result:
        """Do the work of a request whose body has been read.

        Args:
            work: done on another thread.
            receive: of the request; says when its client hangs up.

        Raises:
            OverloadedError: no place is free.
            DeadlineError: the work was not done in time.
            ClientGoneError: the client hung up before it was.
            NotReadyError: the service stops, and it was not done by then.
        """
        patience = self._admit()
        watcher = asyncio.create_task(_give_up_without_client(receive, patience))

        def limited() -> _Result:
            with limited_by(patience):
                return work()

        try:
            return await to_thread.run_sync(limited, limiter=self._threads)
        except asyncio.CancelledError:
            patience.give_up(ClientGoneError("the request was cancelled"))
            raise
        finally:
            watcher.cancel()
            self._leave(patience)

    def give_up(self) -> None:
        """Let all that wait end with a `NotReadyError`."""
        with self._lock:
            for patience in self._admitted:
                patience.give_up(NotReadyError("the service is stopping; nothing was recorded"))

    def _admit(self) -> Patience:
        with self._lock:
            if len(self._admitted) >= self._places:
                raise OverloadedError(self._places)
            patience = Patience(self._seconds)
            self._admitted.add(patience)
            metrics.REQUESTS_IN_HAND.inc()
        return patience

    def _leave(self, patience: Patience) -> None:
        with self._lock:
            self._admitted.remove(patience)
            metrics.REQUESTS_IN_HAND.dec()


async def _give_up_without_client(receive: Receive, patience: Patience) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    patience.give_up(ClientGoneError("the client hung up"))
