"""The SQLite file of the batch jobs: what waits, and what became of the rest.

It is a file of its own because the ledger only ever grows and is chained, while a job changes with
every answer and is forgotten in the end.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Self
from uuid import uuid4

from pydantic import TypeAdapter

from service.errors import JobStateError, JobStoreError, QueueFullError, UnknownExamError
from service.exam import Question
from service.jobs.job import Counts, Failure, Item, Job, JobState, NewItem, Outcome, Reason
from service.ledger.erasure import AnswerKey
from service.schema_script import run_script

_SCHEMA = Path(__file__).with_name("schema.sql")
_SCHEMA_VERSION = 1
_PATIENCE_S = 30.0
_KEPT = timedelta(days=30)
"""How long a job that has ended is remembered; its grades stay in the ledger."""
_SUSPECT_TRIES = 2
"""An answer that was being graded at so many crashes is graded alone, to find the culprit."""

_QUESTION = TypeAdapter(Question)
_UNFINISHED = "state IN ('queued', 'running')"
_WAITING = "SELECT * FROM item WHERE item.job_id = job.job_id AND item.state = 'waiting'"
_TEXTS_OF = (
    "text IS NOT NULL AND student_id = ? AND (job_id, number) IN "
    "(SELECT job_id, number FROM job_question WHERE exam_id = coalesce(?, exam_id))"
)
_ITEMS = "SELECT * FROM item JOIN job_question USING (job_id, number)"


class JobStore:
    """All jobs of the last weeks. Safe to use from many threads and processes."""

    def __init__(self, path: Path, *, most_jobs: int) -> None:
        """Open the file, or make it.

        Args:
            path: the SQLite file.
            most_jobs: how many jobs may be unfinished at a time.

        Raises:
            JobStoreError: it cannot be opened, or a newer SteadyEval made it.
        """
        self.path = path
        self._most_jobs = most_jobs
        self._lock = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite gives its side files (-wal, -shm) the mode of the main file.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise JobStoreError(f"cannot open the file of batch jobs {path}: {error}") from error
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with self._reading() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
        with self._writing() as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > _SCHEMA_VERSION:
                raise JobStoreError(
                    f"the file of batch jobs {self.path} has schema {version}, made by a newer "
                    f"SteadyEval; this one knows schema {_SCHEMA_VERSION}: upgrade SteadyEval"
                )
            if version == 0:
                run_script(connection, _SCHEMA)
                connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")

    def create(self, items: Sequence[NewItem], created_by: str | None) -> Job:
        """Queue a job; it is on disk when this returns.

        The same answers from the same caller are the same job until it has ended, so that a
        request that got no response can be repeated.

        Args:
            items: at least one answer.
            created_by: prefix of the caller's API key, None without one.

        Raises:
            QueueFullError: too many jobs are unfinished.
            JobStoreError: the file cannot be written.
        """
        digest = _digest(items)
        with self._writing() as connection:
            _forget_old(connection)
            twin = connection.execute(
                f"SELECT job_id FROM job WHERE {_UNFINISHED} AND digest = ? AND created_by IS ?",
                (digest, created_by),
            ).fetchone()
            if twin is not None:
                return _job(connection, twin["job_id"])
            self._require_place(connection)
            job_id = str(uuid4())
            connection.execute(
                "INSERT INTO job (job_id, created_by, digest, state, created_at) "
                "VALUES (?, ?, ?, 'queued', ?)",
                (job_id, created_by, digest, _now()),
            )
            _insert_items(connection, job_id, items)
            return _job(connection, job_id)

    def job(self, job_id: str) -> Job:
        """A job as it stands.

        Raises:
            UnknownExamError: there is none, or it ended long ago.
            JobStoreError: the file cannot be read.
        """
        with self._reading() as connection:
            return _job(connection, job_id)

    def unfinished(self) -> list[str]:
        """Ids of the jobs that have not ended, oldest first."""
        with self._reading() as connection:
            found = connection.execute(f"SELECT job_id FROM job WHERE {_UNFINISHED} ORDER BY rowid")
            return [row["job_id"] for row in found]

    def items(self, job_id: str, after: int, limit: int) -> list[Item]:
        """At most `limit` answers of a job behind place `after`, in order; the first has place 1.

        Raises:
            JobStoreError: the file cannot be read.
        """
        with self._reading() as connection:
            found = connection.execute(
                f"{_ITEMS} WHERE job_id = ? AND position > ? ORDER BY position LIMIT ?",
                (job_id, after, limit),
            )
            return [_item(row) for row in found]

    def cancel(self, job_id: str) -> Job:
        """Leave the rest of a job alone; answers that are being graded at this moment still count.

        Raises:
            UnknownExamError: there is no such job.
            JobStateError: it is done.
            JobStoreError: the file cannot be written.
        """
        with self._writing() as connection:
            if _job(connection, job_id).state is JobState.DONE:
                raise JobStateError(f"batch {job_id} is done; there is nothing left to cancel")
            connection.execute(
                "UPDATE job SET state = 'cancelled', problem = NULL, "
                "ended_at = coalesce(ended_at, ?) WHERE job_id = ?",
                (_now(), job_id),
            )
            return _job(connection, job_id)

    def resume(self, job_id: str) -> Job:
        """Go on with a job that was cancelled, and try again what may pass this time.

        Raises:
            UnknownExamError: there is no such job.
            JobStateError: nothing of it is left to grade.
            QueueFullError: too many jobs are unfinished.
            JobStoreError: the file cannot be written.
        """
        passing = [reason for reason in Reason if reason.may_pass]
        with self._writing() as connection:
            if not _job(connection, job_id).state.ended:
                return _job(connection, job_id)
            self._require_place(connection)
            connection.execute(
                "UPDATE item SET state = 'waiting', tries = 0, reason = NULL, detail = NULL "
                "WHERE job_id = ? AND state = 'failed' "
                f"AND reason IN ({', '.join('?' * len(passing))})",
                (job_id, *passing),
            )
            if not _job(connection, job_id).counts.waiting:
                raise JobStateError(f"nothing of batch {job_id} is left that could be graded")
            connection.execute(
                "UPDATE job SET state = 'queued', ended_at = NULL, rate = NULL WHERE job_id = ?",
                (job_id,),
            )
            return _job(connection, job_id)

    def take(self, job_id: str, limit: int) -> list[Item]:
        """The next answers of a job, all of one question; each counts a try until it is settled.

        What was being graded at several crashes comes alone.
        """
        with self._writing() as connection:
            found = connection.execute(
                f"{_ITEMS} WHERE job_id = ? AND state = 'waiting' "
                "AND number = (SELECT min(number) FROM item WHERE job_id = ? AND state = 'waiting')"
                " ORDER BY position LIMIT ?",
                (job_id, job_id, limit),
            )
            waiting = [_item(row) for row in found]
            calm = [item for item in waiting if item.tries < _SUSPECT_TRIES]
            taken = calm or waiting[:1]
            _count_tries(connection, job_id, [item.position for item in taken], 1)
            connection.execute(
                "UPDATE job SET state = 'running', started_at = coalesce(started_at, ?) "
                "WHERE job_id = ? AND state = 'queued'",
                (_now(), job_id),
            )
            return taken

    def give_back(self, job_id: str, items: Sequence[Item], problem: str | None) -> None:
        """Let answers wait again that could not be graded now, through no fault of theirs."""
        with self._writing() as connection:
            _count_tries(connection, job_id, [item.position for item in items], -1)
            connection.execute("UPDATE job SET problem = ? WHERE job_id = ?", (problem, job_id))

    def say_problem(self, job_id: str, problem: str) -> None:
        """Note what a job waits for."""
        self.give_back(job_id, [], problem)

    def settle(self, job_id: str, outcomes: Sequence[Outcome], rate: float | None) -> Job:
        """Note what became of answers; with the last of them, the job is done.

        Args:
            job_id: the job.
            outcomes: what became of which answer.
            rate: answers a second, lately.
        """
        with self._writing() as connection:
            connection.executemany(
                "UPDATE item SET state = :state, baseline_id = :baseline_id, "
                "filtered_id = :filtered_id, reason = :reason, detail = :detail, "
                "text = iif(:keeps_text, text, NULL) "
                "WHERE job_id = :job_id AND position = :position",
                [_outcome_row(job_id, outcome) for outcome in outcomes],
            )
            connection.execute(
                "UPDATE job SET problem = NULL, rate = coalesce(?, rate) WHERE job_id = ?",
                (rate, job_id),
            )
            connection.execute(
                "UPDATE job SET state = 'done', ended_at = ? "
                f"WHERE job_id = ? AND NOT EXISTS ({_WAITING})",
                (_now(), job_id),
            )
            return _job(connection, job_id)

    def count_texts(self, student_id: str, exam_id: str | None) -> int:
        """How many texts of a student stand here, in one exam or, without it, in all."""
        with self._reading() as connection:
            (count,) = connection.execute(
                f"SELECT count(*) FROM item WHERE {_TEXTS_OF}", (student_id, exam_id)
            ).fetchone()
        return int(count)

    def erase(self, student_id: str, exam_id: str | None) -> list[AnswerKey]:
        """Delete the texts that `count_texts` counts; answers that wait fail as `erased`.

        Returns:
            The answers; some may be being graded at this moment.
        """
        with self._writing() as connection:
            found = connection.execute(
                "SELECT DISTINCT exam_id, answer_id FROM item JOIN job_question "
                f"USING (job_id, number) WHERE {_TEXTS_OF}",
                (student_id, exam_id),
            ).fetchall()
            connection.execute(
                "UPDATE item SET text = NULL, state = 'failed', reason = ?, detail = ? "
                f"WHERE {_TEXTS_OF}",
                (Reason.ERASED, "its text was erased", student_id, exam_id),
            )
            connection.execute(
                "UPDATE job SET state = 'done', ended_at = ? "
                f"WHERE {_UNFINISHED} AND NOT EXISTS ({_WAITING})",
                (_now(),),
            )
        return [AnswerKey(*row) for row in found]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_place(self, connection: sqlite3.Connection) -> None:
        (unfinished,) = connection.execute(
            f"SELECT count(*) FROM job WHERE {_UNFINISHED}"
        ).fetchone()
        if unfinished >= self._most_jobs:
            raise QueueFullError(self._most_jobs)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._connection
        except sqlite3.Error as error:
            raise JobStoreError(f"the file of batch jobs {self.path} failed: {error}") from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


def _digest(items: Sequence[NewItem]) -> bytes:
    digest = hashlib.sha256()
    for item in items:
        digest.update(f"{item!r}\n".encode("ascii", "backslashreplace"))
    return digest.digest()


def _insert_items(connection: sqlite3.Connection, job_id: str, items: Sequence[NewItem]) -> None:
    numbers = {question: number for number, question in enumerate(_questions(items))}
    connection.executemany(
        "INSERT INTO job_question VALUES (?, ?, ?, ?)",
        [
            (job_id, number, question.exam_id, _QUESTION.dump_json(question).decode())
            for question, number in numbers.items()
        ],
    )
    connection.executemany(
        "INSERT INTO item (job_id, position, number, answer_id, student_id, attack_type, text, "
        "submission_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                job_id,
                position,
                numbers[item.question],
                item.answer_id,
                item.student_id,
                item.attack_type,
                item.text,
                item.submission_id,
            )
            for position, item in enumerate(items, start=1)
        ],
    )


def _questions(items: Sequence[NewItem]) -> list[Question]:
    return list(dict.fromkeys(item.question for item in items))


def _count_tries(
    connection: sqlite3.Connection, job_id: str, positions: Sequence[int], change: int
) -> None:
    connection.executemany(
        "UPDATE item SET tries = tries + ? WHERE job_id = ? AND position = ?",
        [(change, job_id, position) for position in positions],
    )


def _forget_old(connection: sqlite3.Connection) -> None:
    before = (datetime.now(UTC) - _KEPT).isoformat()
    connection.execute("DELETE FROM job WHERE ended_at < ?", (before,))


def _outcome_row(job_id: str, outcome: Outcome) -> dict[str, object]:
    failure = outcome.failure
    return {
        "job_id": job_id,
        "position": outcome.position,
        "state": "graded" if failure is None else "failed",
        "baseline_id": outcome.baseline_id,
        "filtered_id": outcome.filtered_id,
        "reason": failure and failure.reason,
        "detail": failure and failure.detail,
        "keeps_text": failure is not None and failure.reason.may_pass,
    }


def _job(connection: sqlite3.Connection, job_id: str) -> Job:
    row = connection.execute("SELECT * FROM job WHERE job_id = ?", (job_id,)).fetchone()
    if row is None:
        raise UnknownExamError(f"no batch {job_id!r} is known; ended ones are kept for 30 days")
    counts: dict[str, int] = {"waiting": 0, "graded": 0, "failed": 0}
    failures: dict[Reason, int] = {}
    for state, reason, count in connection.execute(
        "SELECT state, reason, count(*) FROM item WHERE job_id = ? GROUP BY state, reason",
        (job_id,),
    ):
        counts[state] += count
        if reason is not None:
            failures[Reason(reason)] = count
    exams = connection.execute(
        "SELECT DISTINCT exam_id FROM job_question WHERE job_id = ? ORDER BY exam_id", (job_id,)
    )
    return Job(
        job_id=row["job_id"],
        created_by=row["created_by"],
        exams=tuple(exam_id for (exam_id,) in exams),
        state=JobState(row["state"]),
        created_at=datetime.fromisoformat(row["created_at"]),
        started_at=_moment(row["started_at"]),
        ended_at=_moment(row["ended_at"]),
        counts=Counts(sum(counts.values()), counts["graded"], counts["failed"]),
        failures=failures,
        rate=row["rate"],
        problem=row["problem"],
    )


def _item(row: sqlite3.Row) -> Item:
    reason = row["reason"]
    return Item(
        question=_QUESTION.validate_json(row["question"]),
        answer_id=row["answer_id"],
        student_id=row["student_id"],
        attack_type=row["attack_type"],
        text=row["text"],
        submission_id=row["submission_id"],
        position=row["position"],
        tries=row["tries"],
        baseline_id=row["baseline_id"],
        filtered_id=row["filtered_id"],
        failure=None if reason is None else Failure(Reason(reason), row["detail"]),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
