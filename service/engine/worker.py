"""The thread that owns a model: whoever calls waits, and what waits together runs together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from service.errors import EngineError, SteadyEvalError

BatchFunction = Callable[[Sequence[Any]], Sequence[Any]]
"""Results in the order of the items; an exception in a result's place fails that item alone."""


@dataclass(frozen=True)
class _Job:
    kind: Hashable
    item: Any
    result: Future[Any] = field(default_factory=Future)


class Worker:
    """Runs items of any thread on one thread of its own, in batches of one kind.

    Args:
        functions: what runs a batch of each kind.
        batch_size: most items in one batch.
    """

    def __init__(self, functions: Mapping[Hashable, BatchFunction], batch_size: int) -> None:
        self._functions = functions
        self._batch_size = batch_size
        self._waiting: deque[_Job] = deque()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._serve, name="model", daemon=True)
        self._thread.start()

    def run(self, kind: Hashable, items: Sequence[Any]) -> list[Any]:
        """Results of the items, in their order.

        Raises:
            EngineError: the model call failed, or the worker is closed.
            SteadyEvalError: what the function found wrong with an item.
        """
        jobs = [_Job(kind, item) for item in items]
        with self._changed:
            if self._closed:
                raise EngineError("the engine is closed")
            self._waiting.extend(jobs)
            self._changed.notify()
        return [job.result.result() for job in jobs]

    def close(self) -> None:
        """Finish the running batch, refuse what still waits, and end the thread."""
        with self._changed:
            self._closed = True
            refused = list(self._waiting)
            self._waiting.clear()
            self._changed.notify()
        for job in refused:
            job.result.set_exception(EngineError("the engine was closed before this call ran"))
        self._thread.join()
        self._functions = {}

    def _serve(self) -> None:
        while batch := self._next_batch():
            self._run_batch(batch)

    def _next_batch(self) -> list[_Job]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return []
            kind = self._waiting[0].kind
            batch: list[_Job] = []
            others: deque[_Job] = deque()
            for job in self._waiting:
                same = job.kind == kind and len(batch) < self._batch_size
                (batch if same else others).append(job)
            self._waiting = others
            return batch

    def _run_batch(self, batch: Sequence[_Job]) -> None:
        try:
            results = self._functions[batch[0].kind]([job.item for job in batch])
        except Exception as error:
            if len(batch) > 1:
                # One bad item, or too little memory for all, must not fail the others.
                for job in batch:
                    self._run_batch([job])
            else:
                batch[0].result.set_exception(_as_engine_error(error))
            return
        for job, result in zip(batch, results, strict=True):
            if isinstance(result, Exception):
                job.result.set_exception(_as_engine_error(result))
            else:
                job.result.set_result(result)


def _as_engine_error(error: Exception) -> SteadyEvalError:
    if isinstance(error, SteadyEvalError):
        return error
    failure = EngineError(f"the model call failed: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
