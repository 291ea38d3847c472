"""What the ledger keeps beside Judgements, and the order in which all of it reaches the graph."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.exam import Question
from service.judgement import Judgement


class RunKind(StrEnum):
    """Why Judgements were made."""

    REQUEST = "request"
    BATCH = "batch"
    EVALUATION = "evaluation"


@dataclass(frozen=True)
class Run:
    """A request, a batch or an evaluation: it includes the Judgements that it made or found."""

    run_id: str
    kind: RunKind
    pipeline: str
    started_at: datetime


@dataclass(frozen=True)
class Submission:
    """One text for an answer as it was received."""

    submission_id: str
    exam_id: str
    question_id: str
    answer_id: str
    student_id: str
    attack_type: str
    text: str
    received_at: datetime
    previous: str | None = None
    """submission_id of the text for the same answer that came before; the ledger fills it in."""
    erased: bool = False
    """The text was erased; `text` is empty."""


@dataclass(frozen=True)
class Rating:
    """The score that a human rater gave to an answer."""

    exam_id: str
    question_id: str
    answer_id: str
    student_id: str
    rater: str
    score: float


@dataclass(frozen=True)
class Inclusion:
    """A Run includes a Judgement."""

    run_id: str
    judgement_id: str


@dataclass(frozen=True)
class Publication:
    """Somebody's decision to let the grades of a run count."""

    publication_id: str
    run_id: str
    published_by: str
    reason: str
    published_at: datetime


@dataclass(frozen=True)
class GradeOfRecord:
    """The Judgement that counts for an answer, from its publication to the answer's next one."""

    publication_id: str
    exam_id: str
    answer_id: str
    judgement_id: str


@dataclass(frozen=True)
class Erasure:
    """All texts of an answer, and those made from them, that were there at that time are gone."""

    exam_id: str
    answer_id: str
    erased_by: str
    reason: str
    erased_at: datetime


@dataclass(frozen=True)
class Position:
    """How far a ledger has been carried into a graph; the graph itself keeps it."""

    ledger_id: str
    seq: int
    head: str | None = None
    """Hash of the ledger's row `seq`, hex."""


Record = (
    Question
    | Submission
    | Rating
    | Run
    | Judgement
    | Inclusion
    | Publication
    | GradeOfRecord
    | Erasure
)


@dataclass(frozen=True)
class LoggedRecord:
    """A record with its place in the ledger; `seq` grows by writing order.

    `hash` binds it and all before it, hex.
    """

    seq: int
    record: Record
    hash: str


@dataclass(frozen=True)
class Fault:
    """A record that is not as it was written; `seq` is its place in the ledger, if it has one."""

    seq: int | None
    record: str
    reason: str

    def __str__(self) -> str:
        place = "" if self.seq is None else f"record {self.seq}, "
        return f"{place}{self.record}: {self.reason}"
