"""Many threads' transactions in one commit: what it costs is the wait for the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, TypeVar

from service.ledger.database import Database

_Result = TypeVar("_Result")


@dataclass(eq=False)
class _Job:
    work: Callable[[sqlite3.Connection], Any]
    lasting: bool
    result: Future[Any] = field(default_factory=Future)


class GroupCommit:
    """Commits what came while the last commit was under way. Safe to use from many threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[_Job] = []
        self._busy = False
        self._changed = Condition()

    def run(
        self, work: Callable[[sqlite3.Connection], _Result], *, lasting: bool = True
    ) -> _Result:
        """Do `work` in a transaction: committed when this returns, undone whole when it raises.

        Args:
            work: what is done; it may be called on another thread.
            lasting: on disk when this returns. Otherwise a loss of power may undo it, unless
                something lasting was committed since.

        Raises:
            LedgerError: the file cannot be written.
        """
        job = _Job(work, lasting)
        with self._changed:
            self._waiting.append(job)
            self._changed.wait_for(lambda: job.result.done() or not self._busy)
            jobs: list[_Job] = []
            if not job.result.done():
                self._busy = True
                jobs, self._waiting = self._waiting, jobs
        if jobs:
            try:
                self._commit(jobs)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
        result: _Result = job.result.result()
        return result

    def _commit(self, jobs: list[_Job]) -> None:
        results: list[Any]
        try:
            with self._database.writing(lasting=any(job.lasting for job in jobs)) as connection:
                results = [self._attempt(connection, job) for job in jobs]
        except BaseException as error:
            results = [error] * len(jobs)
        for job, result in zip(jobs, results, strict=True):
            if isinstance(result, BaseException):
                job.result.set_exception(result)
            else:
                job.result.set_result(result)

    def _attempt(self, connection: sqlite3.Connection, job: _Job) -> Any:
        """The job's result, or why it was undone."""
        try:
            with self._database.part(connection):
                return job.work(connection)
        except Exception as error:
            if connection.in_transaction:
                return error
            # SQLite undid the whole transaction, as it does on a full disk.
            raise
