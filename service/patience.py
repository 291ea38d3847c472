"""How long somebody waits for results of other threads, and how they stop waiting."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

from service.errors import DeadlineError, SteadyEvalError

_Result = TypeVar("_Result")


class Patience:
    """Ends at its deadline, or when `give_up` is called.

    Args:
        seconds: from now to the deadline.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = monotonic() + seconds
        self._given_up: Future[None] = Future()

    def give_up(self, reason: SteadyEvalError) -> None:
        """Let whoever waits raise `reason`; only the first one counts."""
        with suppress(InvalidStateError):
            self._given_up.set_exception(reason)

    def wait_for(self, result: Future[_Result]) -> _Result:
        """The result, or the error that is in its place.

        Raises:
            DeadlineError: it was not there in time.
            SteadyEvalError: the reason for which it was given up.
        """
        left = max(self._deadline - monotonic(), 0.0)
        either: tuple[Future[Any], ...] = (result, self._given_up)
        wait(either, left, FIRST_COMPLETED)
        if result.done():
            return result.result()
        if self._given_up.done():
            self._given_up.result()
        raise DeadlineError(self._seconds)


_current: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def limited_by(patience: Patience) -> Iterator[None]:
    """Let every `wait_for` in the body wait no longer than `patience` does."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


def wait_for(result: Future[_Result]) -> _Result:
    """The result of another thread; without a limit, however long it takes.

    Raises:
        DeadlineError: it was not there in time.
        SteadyEvalError: the reason for which it was given up.
    """
    patience = _current.get()
    return result.result() if patience is None else patience.wait_for(result)
