"""A batch job and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.exam import Question


class JobState(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLED = "cancelled"
    DONE = "done"

    @property
    def ended(self) -> bool:
        """Nothing happens any more, unless somebody resumes the job."""
        return self in (JobState.CANCELLED, JobState.DONE)


class Reason(StrEnum):
    """Why an answer was not graded."""

    PROMPT_TOO_LONG = "prompt-too-long"
    """It does not fit the model's context."""
    INVALID = "invalid"
    """Its id is another student's, or its question is registered with another rubric."""
    ERASED = "erased"
    """Its text was erased after the job was made."""
    ENGINE = "engine"
    """The model failed on it, and on nothing else."""
    CONFLICT = "conflict"
    """Another result stands in the ledger under its id."""
    CRASH = "crash"
    """The process ended each time that it was graded."""
    INTERNAL = "internal"
    """A fault of ours; the log says more."""

    @property
    def may_pass(self) -> bool:
        """Another try may succeed."""
        return self in (Reason.ENGINE, Reason.CONFLICT, Reason.CRASH, Reason.INTERNAL)


@dataclass(frozen=True)
class Failure:
    """Why an answer was not graded, for programs and for people."""

    reason: Reason
    detail: str


@dataclass(frozen=True)
class NewItem:
    """An answer that a job is to grade.

    Its text came along, or stands in the ledger under `submission_id`.
    """

    question: Question
    answer_id: str
    student_id: str
    attack_type: str
    text: str | None
    submission_id: str | None = None


@dataclass(frozen=True)
class Item(NewItem):
    """An answer of a job: graded, failed, or neither yet.

    Attributes:
        position: its place in the job.
        tries: how often it was being graded when the process ended.
        baseline_id, filtered_id: its Judgements in the ledger, once it is graded.
        failure: why it was not graded.
    """

    position: int = 0
    tries: int = 0
    baseline_id: str | None = None
    filtered_id: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of the item at `position`: both ids, or a failure."""

    position: int
    baseline_id: str | None = None
    filtered_id: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class Counts:
    """How many answers of a job there are, and what became of them."""

    total: int
    graded: int
    failed: int

    @property
    def waiting(self) -> int:
        """Answers whose turn has not come."""
        return self.total - self.graded - self.failed


@dataclass(frozen=True)
class Job:
    """A batch job as it stands. Its id is also that of its Run.

    Attributes:
        created_by: prefix of the API key that asked for it, None without one.
        exams: ids of the exams of its answers.
        failures: how many answers failed, by reason.
        rate: answers a second, lately; None until some are settled.
        problem: what it waits for at the moment, None while it gets on.
    """

    job_id: str
    created_by: str | None
    exams: tuple[str, ...]
    state: JobState
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    counts: Counts
    failures: Mapping[Reason, int]
    rate: float | None
    problem: str | None

    @property
    def seconds_left(self) -> float | None:
        """How long it will take at its rate."""
        if self.state.ended or not self.rate:
            return None
        return self.counts.waiting / self.rate
