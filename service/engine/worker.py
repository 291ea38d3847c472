"""The thread that owns a model: whoever calls waits, and what waits together runs together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from service.errors import EngineError, SteadyEvalError

BatchFunction = Callable[[Sequence[Any]], Sequence[Any]]
"""Results in the order of the items; an exception in a result's place fails that item alone."""


@dataclass(eq=False)
class _Job:
    """One item, for all callers that want its result while it is not there yet."""

    kind: Hashable
    item: Hashable
    result: Future[Any] = field(default_factory=Future)
    taken: bool = False


class _Call:
    """The items of one caller."""

    def __init__(self, kind: Hashable, jobs: Iterable[_Job]) -> None:
        self.kind = kind
        self._jobs = deque(jobs)

    def waits(self) -> bool:
        """True if an item is left that was not taken, for this call or for another."""
        while self._jobs and self._jobs[0].taken:
            self._jobs.popleft()
        return bool(self._jobs)

    def take(self) -> _Job:
        """The next item, where one waits."""
        job = self._jobs.popleft()
        job.taken = True
        return job


class Worker:
    """Runs items of any thread on one thread of its own, in batches of one kind.

    No batch waits to be filled: what is there when the thread is free runs. Calls take turns,
    item by item, so that a call with a thousand items holds up none with a single one. Equal
    items that are there at the same time run once.

    Args:
        functions: what runs a batch of each kind.
        batch_size: most items in one batch.
    """

    def __init__(self, functions: Mapping[Hashable, BatchFunction], batch_size: int) -> None:
        self._functions = functions
        self._batch_size = batch_size
        self._waiting: list[_Call] = []
        self._served: deque[_Call] = deque()
        self._unfinished: dict[tuple[Hashable, Hashable], _Job] = {}
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._serve, name="model", daemon=True)
        self._thread.start()

    def run(self, kind: Hashable, items: Sequence[Hashable]) -> list[Any]:
        """Results of the items, in their order.

        Raises:
            EngineError: the model call failed, or the worker is closed.
            SteadyEvalError: what the function found wrong with an item.
        """
        with self._changed:
            if self._closed:
                raise EngineError("the engine is closed")
            jobs = [self._unfinished.setdefault((kind, item), _Job(kind, item)) for item in items]
            call = _Call(kind, jobs)
            if call.waits():
                self._waiting.append(call)
                self._changed.notify()
        return [job.result.result() for job in jobs]

    def close(self) -> None:
        """Finish the running batch, refuse what still waits, and end the thread."""
        with self._changed:
            self._closed = True
            refused = [job for job in self._unfinished.values() if not job.taken]
            self._unfinished.clear()
            self._waiting.clear()
            self._changed.notify()
        for job in refused:
            job.result.set_exception(EngineError("the engine was closed before this call ran"))
        self._thread.join()
        self._functions = {}

    def _serve(self) -> None:
        while batch := self._next_batch():
            self._run_batch(batch)
            with self._changed:
                for job in batch:
                    self._unfinished.pop((job.kind, job.item), None)

    def _next_batch(self) -> list[_Job]:
        """Items of the kind that waits longest, one of each call and around again."""
        with self._changed:
            # Behind those that came meanwhile, before those that come next: nobody starves.
            self._waiting += [call for call in self._served if call.waits()]
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return []
            kind = self._waiting[0].kind
            first = deque(call for call in self._waiting if call.kind == kind)
            served: deque[_Call] = deque()
            batch: list[_Job] = []
            while len(batch) < self._batch_size and (turns := first or served):
                call = turns.popleft()
                if call.waits():
                    batch.append(call.take())
                    served.append(call)
            self._served = served
            self._waiting = [call for call in self._waiting if call.waits() and call not in served]
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
