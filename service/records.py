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
class Position:
    """How far a ledger has been carried into a graph; the graph itself keeps it."""

    ledger_id: str
    seq: int


Record = Question | Submission | Rating | Run | Judgement | Inclusion


@dataclass(frozen=True)
class LoggedRecord:
    """A record with its place in the ledger; `seq` grows by writing order."""

    seq: int
    record: Record
