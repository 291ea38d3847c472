"""The folder of an evaluation: what it is of, and every score as it comes.

It holds ids, numbers and hashes, never the text of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict

from evaluation.variants import AttackSet
from filter_training.journal import Journal
from service.exam import Answer, Question
from service.pipeline import GradedAnswer

_ONLY_NOTED = frozenset({"run_id", "started_at", "command", "settings"})
"""What a call that goes on with a run may have otherwise."""


class RunDescription(BaseModel):
    """What an evaluation is of, `run.json`: results of different ones never stand in one folder.

    Attributes:
        run_id: the graph's Runs are called `run_id/1-pipeline` and so on, in their order.
        started_at: when the first call began.
        command: the first call, with the names of the exam files.
        settings: those that decide how the model runs.
        profiles: role → name of the model profile.
        fingerprints: role → hash over base, adapter, tokenizer and dtype.
        pipelines: name → how it filters and how it grades.
        attacks: which variants of the answers.
        split: of the exam files.
        sample: how many answers were drawn; None for all.
        seed: of the draw and of the texts.
        exams: name of each exam file → its SHA-256.
        texts_sha256: over all variants of all answers.
        versions: of the libraries that decide results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    started_at: AwareDatetime
    command: tuple[str, ...]
    settings: Mapping[str, str | int]
    profiles: Mapping[str, str]
    fingerprints: Mapping[str, str]
    pipelines: Mapping[str, str]
    attacks: AttackSet
    split: str
    sample: int | None
    seed: int
    exams: Mapping[str, str]
    texts_sha256: str
    versions: Mapping[str, str]


class ScoreKey(NamedTuple):
    """What a score is told by."""

    pipeline: str
    exam_id: str
    answer_id: str
    attack_type: str


class ScoreLine(BaseModel):
    """What a pipeline made of one variant of an answer, a line of `scores.jsonl`.

    Attributes:
        pipeline: its name.
        exam_id: with the next three, whose answer in which variant it is.
        question_id: see there.
        answer_id: see there.
        student_id: see there.
        attack_type: see there.
        score: the final score; None where there is none.
        expected_score: the mean over the grader's probabilities, where it has them.
        removed: [start, end) of each span that the pipeline removed.
        review: why a person would have to look at the grade; see `GradedAnswer`.
        judgement_id: of the final Judgement; None where the model cannot take the text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pipeline: str
    exam_id: str
    question_id: str
    answer_id: str
    student_id: str
    attack_type: str
    score: float | None = None
    expected_score: float | None = None
    removed: tuple[tuple[int, int], ...] = ()
    review: tuple[str, ...] = ()
    judgement_id: str | None = None

    @classmethod
    def of(cls, pipeline: str, graded: GradedAnswer) -> Self:
        """The score of a graded answer."""
        final = graded.filtered
        return cls(
            pipeline=pipeline,
            exam_id=final.exam_id,
            question_id=final.question_id,
            answer_id=final.answer_id,
            student_id=final.student_id,
            attack_type=final.attack_type,
            score=final.predicted_score,
            expected_score=final.expected_score,
            removed=tuple((span.start, span.end) for span in graded.removed_spans),
            review=graded.review_reasons,
            judgement_id=final.judgement_id,
        )

    @classmethod
    def refused(cls, pipeline: str, question: Question, answer: Answer) -> Self:
        """The line of an answer that cannot be graded."""
        return cls(
            pipeline=pipeline,
            exam_id=question.exam_id,
            question_id=question.question_id,
            answer_id=answer.answer_id,
            student_id=answer.student_id,
            attack_type=answer.attack_type,
        )

    @property
    def key(self) -> ScoreKey:
        """What the score is told by."""
        return ScoreKey(self.pipeline, self.exam_id, self.answer_id, self.attack_type)


class RunJournal(Journal[RunDescription, ScoreLine, ScoreKey]):
    """The scores in a folder.

    Args:
        folder: is made where it is not there.
        description: of the run that wants to write there.

    Raises:
        SettingsError: the folder holds another run.
        InputError: the folder cannot be used.
    """

    def __init__(self, folder: Path, description: RunDescription) -> None:
        super().__init__(
            folder,
            description,
            file="scores.jsonl",
            kind=ScoreLine,
            key=lambda line: line.key,
            may_differ=_ONLY_NOTED,
        )
