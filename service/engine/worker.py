"""The thread that owns a model: whoever calls waits, and what waits together runs together."""

from __future__ import annotations

import logging
import traceback
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from service.errors import EngineError, SteadyEvalError
from service.observability import metrics
from service.patience import wait_for

_log = logging.getLogger(__name__)

BatchFunction = Callable[[Sequence[Any]], Sequence[Any]]
"""Results in the order of the items; an exception in a result's place fails that item alone."""


@dataclass(eq=False)
class _Job:
    """One item, for all callers that want its result while it is not there yet."""

    kind: Hashable
    item: Hashable
    result: Future[Any] = field(default_factory=Future)
    callers: int = 0
    taken: bool = False


class _UnwantedError(Exception):
    """Nobody waits for the running batch any more."""


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
    items that are there at the same time run once. Whoever loses patience leaves, and what nobody
    else wants is dropped. Whatever a function raises fails that item, and the thread goes on.

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
        self._running: Sequence[_Job] = ()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._serve, name="model", daemon=True)
        self._thread.start()

    def run(self, kind: Hashable, items: Sequence[Hashable]) -> list[Any]:
        """Results of the items, in their order.

        Raises:
            EngineError: the model call failed, or the worker is closed.
            SteadyEvalError: what the function found wrong with an item, or why the caller waits
                no longer.
        """
        with self._changed:
            if self._closed:
                raise EngineError("the engine is closed")
            if not self._thread.is_alive():
                raise EngineError("the thread of the model has ended; restart the service")
            jobs = [self._unfinished.setdefault((kind, item), _Job(kind, item)) for item in items]
            for job in jobs:
                job.callers += 1
            call = _Call(kind, jobs)
            if call.waits():
                self._waiting.append(call)
                self._measure()
                self._changed.notify()
        try:
            return [wait_for(job.result) for job in jobs]
        finally:
            self._leave(jobs)

    def continue_batch(self) -> None:
        """Do nothing while somebody waits for the running batch; for its function to call.

        Raises:
            Exception: nobody does, or the worker is being closed: let it through.
        """
        with self._changed:
            if self._closed or not any(job.callers for job in self._running):
                for job in self._running:
                    # Whoever asks for the same from now on must not get this one.
                    self._forget(job)
                raise _UnwantedError

    def close(self) -> None:
        """End the running batch at its next `continue_batch`, refuse what waits, end the thread."""
        with self._changed:
            self._closed = True
            refused = [job for job in self._unfinished.values() if not job.taken]
            self._unfinished.clear()
            self._waiting.clear()
            self._measure()
            self._changed.notify()
        for job in refused:
            job.result.set_exception(EngineError("the engine was closed before this call ran"))
        self._thread.join()
        self._functions = {}

    def _leave(self, jobs: Sequence[_Job]) -> None:
        with self._changed:
            for job in jobs:
                job.callers -= 1
                if not (job.callers or job.taken):
                    job.taken = True
                    self._forget(job)
            self._waiting = [call for call in self._waiting if call.waits()]
            self._measure()

    def _forget(self, job: _Job) -> None:
        key = (job.kind, job.item)
        if self._unfinished.get(key) is job:
            del self._unfinished[key]

    def _measure(self) -> None:
        metrics.MODEL_QUEUE.set(sum(not job.taken for job in self._unfinished.values()))

    def _serve(self) -> None:
        while batch := self._next_batch():
            self._run_batch(batch)
            with self._changed:
                for job in batch:
                    self._forget(job)

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
            self._measure()
            return batch

    def _run_batch(self, batch: Sequence[_Job]) -> None:
        with self._changed:
            self._running = batch
        failure = self._attempt(batch)
        if failure is None:
            return
        if len(batch) > 1 and not isinstance(failure, _UnwantedError):
            # One bad item, or too little memory for all, must not fail the others.
            for job in batch:
                self._run_batch([job])
        else:
            for job in batch:
                job.result.set_exception(_as_engine_error(failure))

    def _attempt(self, batch: Sequence[_Job]) -> BaseException | None:
        """Run a batch; what the function raised, without the memory that it held."""
        kind = batch[0].kind
        metrics.MODEL_BATCH.labels(_task(kind)).observe(len(batch))
        try:
            results = self._functions[kind]([job.item for job in batch])
            outcomes = list(zip(batch, results, strict=True))
        # Also what is no `Exception`, as a tokenizer's panic: the thread must live.
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)
            return error
        for job, result in outcomes:
            if isinstance(result, Exception):
                job.result.set_exception(_as_engine_error(result))
            else:
                job.result.set_result(result)
        return None


def _task(kind: Hashable) -> str:
    return "/".join(map(str, kind)) if isinstance(kind, tuple) else str(kind)


def _as_engine_error(error: BaseException) -> SteadyEvalError:
    if isinstance(error, SteadyEvalError):
        return error
    if isinstance(error, _UnwantedError):
        return EngineError("the model call was broken off")
    metrics.MODEL_FAILURES.inc()
    # Its own text may repeat the answer on which it happened.
    name = type(error).__name__
    _log.error("a model call failed", exc_info=error)
    return EngineError(f"the model call failed ({name}); the service's log says where")
