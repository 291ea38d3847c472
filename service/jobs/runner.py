"""The thread that works off the jobs, whichever process they came to."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from filelock import FileLock, Timeout

from service.errors import JobStateError, SteadyEvalError
from service.jobs.job import Job
from service.jobs.store import JobStore
from service.jobs.work import JobWork
from service.ledger import Ledger
from service.pipeline import GradingPipeline

_log = logging.getLogger(__name__)

_POLL_S = 2.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0


class JobRunner:
    """Works off the jobs of a store, a portion of each in turn.

    One process at a time does so for a store; another waits until that one ends.
    """

    def __init__(
        self, store: JobStore, ledger: Ledger, pipeline: Callable[[], GradingPipeline]
    ) -> None:
        """Prepare to run jobs; `start` begins.

        Args:
            store: the jobs.
            ledger: where the pipeline records.
            pipeline: gives the pipeline, or raises what is in its way.
        """
        self._store = store
        self._stopping = Event()
        self._work = JobWork(store, ledger, pipeline, self._stopping.is_set)
        self._news = Event()
        self._lock = FileLock(_lock_path(store.path))
        self._pause_s = _FIRST_PAUSE_S
        self._last: str | None = None
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to work in the background."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there is a new job."""
        self._news.set()

    def stop(self) -> None:
        """Begin no portion any more; the one at hand ends when the pipeline is closed."""
        self._stopping.set()
        self._news.set()

    def join(self) -> None:
        """Wait for the end of the thread."""
        if self._thread.is_alive():
            self._thread.join()

    def run(self, job_id: str, on_progress: Callable[[Job], None]) -> Job:
        """Work off one job on this thread.

        Args:
            job_id: the job.
            on_progress: told after every portion.

        Raises:
            JobStateError: a service works off the jobs of this store.
            SteadyEvalError: no answer can be graded at the moment.
        """
        try:
            with self._lock.acquire(timeout=0):
                job = self._store.job(job_id)
                while not job.state.ended:
                    job = self._work.advance(job_id)
                    on_progress(job)
                return job
        except Timeout:
            raise JobStateError(
                "a service works off the batches of this home: stop it, or send the batch to it "
                "with --url"
            ) from None

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._lock.acquire(timeout=0):
                    self._serve()
            except Timeout:
                self._wait(_POLL_S)
            except Exception as error:
                # Whatever it is, the jobs are safe in their file and the thread must live.
                self._report(error)
                self._wait(self._pause_s)
                self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)

    def _serve(self) -> None:
        while not self._stopping.is_set():
            self._news.clear()
            job_id = self._next()
            if job_id is None:
                self._wait(_POLL_S)
            else:
                self._last = job_id
                self._work.advance(job_id)
                self._pause_s = _FIRST_PAUSE_S

    def _next(self) -> str | None:
        """The job behind the one that was served last, around again."""
        waiting = self._store.unfinished()
        if not waiting:
            return None
        place = waiting.index(self._last) + 1 if self._last in waiting else 0
        return waiting[place % len(waiting)]

    def _wait(self, timeout_s: float) -> None:
        self._news.wait(timeout_s)
        self._news.clear()

    def _report(self, error: Exception) -> None:
        if self._stopping.is_set():
            return
        if isinstance(error, SteadyEvalError):
            _log.warning("batches wait: %s", error)
        else:
            _log.error("batches wait", exc_info=error)


def _lock_path(jobs: Path) -> Path:
    return jobs.with_name(f"{jobs.name}.lock")
