"""Bodies of requests and responses about batches."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from service.exam_record import Identifier
from service.jobs import Job, JobState, Reason


class BatchBody(BaseModel):
    """Which recorded answers to grade again."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    exam_id: Identifier = Field(description="the latest text of each answer of this exam")


class CountsBody(BaseModel):
    """How many answers there are, and what became of them."""

    total: int
    graded: int
    failed: int
    waiting: int


class BatchStatus(BaseModel):
    """A batch as it stands."""

    batch_id: str = Field(description="also the id of its Run")
    state: JobState
    exams: list[str]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    answers: CountsBody
    failures: dict[Reason, int] = Field(description="how many answers failed, by reason")
    answers_per_second: float | None = Field(description="lately")
    seconds_left: float | None = Field(description="at that rate")
    waiting_for: str | None = Field(description="what is in the way at the moment")

    @classmethod
    def of(cls, job: Job) -> Self:
        """From the file of jobs."""
        counts = job.counts
        return cls(
            batch_id=job.job_id,
            state=job.state,
            exams=list(job.exams),
            created_at=job.created_at,
            started_at=job.started_at,
            ended_at=job.ended_at,
            answers=CountsBody(
                total=counts.total,
                graded=counts.graded,
                failed=counts.failed,
                waiting=counts.waiting,
            ),
            failures=dict(job.failures),
            answers_per_second=None if job.state.ended else job.rate,
            seconds_left=job.seconds_left,
            waiting_for=job.problem,
        )
