"""Bodies of requests and responses. Offsets count Unicode code points of the answer as sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from service.api.backend import GraphState
from service.exam import UNLABELLED, Answer, Question
from service.exam_record import Identifier, QuestionModel, Text
from service.filter import FilteredText
from service.judgement import FinishReason, Judgement, RemovedSpan, ScoreSource, Stage
from service.ledger import PublishedGrade
from service.pipeline import GradedAnswer


class _Received(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class QuestionBody(QuestionModel):
    """A question with its rubric and scale, in the field names of an exam file."""

    model_config = ConfigDict(extra="forbid")


class AnswerBody(_Received):
    """A student's answer as it was received; an empty answer is gradeable."""

    answer_id: Identifier
    student_id: Identifier
    student_answer: Text


class OptionsBody(_Received):
    """What an experiment may set."""

    attack_type: Identifier = Field(
        UNLABELLED, description="`unlabelled`, or the name of the variant in an experiment"
    )


class GradeBody(_Received):
    """An answer with its question: in full, or by the ids under which it was registered."""

    exam_id: Identifier | None = None
    question_id: Identifier | None = None
    question: QuestionBody | None = Field(None, validate_default=True)
    answer: AnswerBody
    options: OptionsBody = Field(default_factory=OptionsBody)

    @field_validator("question")
    @classmethod
    def _exactly_one_question(
        cls, question: QuestionBody | None, info: ValidationInfo
    ) -> QuestionBody | None:
        ids = [info.data.get("exam_id"), info.data.get("question_id")]
        if question is None and None in ids:
            raise ValueError("give a question, or exam_id and question_id of a registered one")
        if question is not None and ids != [None, None]:
            raise ValueError("give a question or the ids of a registered one, not both")
        return question

    @property
    def of_exam(self) -> str:
        """Id of the exam, however the question is named."""
        exam_id = self.exam_id if self.question is None else self.question.dataset
        assert exam_id is not None  # as _exactly_one_question has seen
        return exam_id

    def to_answer(self) -> Answer:
        """The answer as the pipeline takes it."""
        return Answer(
            answer_id=self.answer.answer_id,
            student_id=self.answer.student_id,
            text=self.answer.student_answer,
            attack_type=self.options.attack_type,
        )


class ExamBody(_Received):
    """Questions of one exam; `dataset` of each is the exam's id."""

    questions: list[QuestionBody] = Field(min_length=1)


class ExamSummary(BaseModel):
    """What is registered of an exam."""

    exam_id: str
    questions: int
    question_ids: list[str]

    @classmethod
    def of(cls, exam_id: str, questions: Sequence[Question]) -> Self:
        """From the registry."""
        ids = [question.question_id for question in questions]
        return cls(exam_id=exam_id, questions=len(ids), question_ids=ids)


class SpanBody(BaseModel):
    """Text that the filter removed: [start, end) in code points of the answer as sent."""

    start: int
    end: int
    text: str
    confidence: float

    @classmethod
    def of(cls, span: RemovedSpan) -> Self:
        """From the domain's type."""
        return cls(start=span.start, end=span.end, text=span.text, confidence=span.confidence)


class JudgementBody(BaseModel):
    """What one stage decided."""

    judgement_id: str
    stage: Stage
    task_type: str
    pipeline_variant: str
    predicted_score: float | None
    score_source: ScoreSource | None
    expected_score: float | None
    score_probabilities: dict[str, float] | None
    justification: str | None
    raw_output: str
    finish_reason: FinishReason
    latency_ms: float
    reused_from: str | None = Field(
        description="another Judgement of the same student whose result this one took over, "
        "or `cache`"
    )

    @classmethod
    def of(cls, judgement: Judgement) -> Self:
        """From the domain's type."""
        return cls.model_validate(_fields(judgement))


class FilteredJudgementBody(JudgementBody):
    """The Judgement that gives the final score."""

    based_on: str = Field(description="judgement_id of the filter's Judgement")


class JudgementsBody(BaseModel):
    """The three Judgements of an answer."""

    baseline: JudgementBody
    filter: JudgementBody
    filtered: FilteredJudgementBody


class GradeResponse(BaseModel):
    """A graded answer. The final score is always that of the filtered answer."""

    answer_id: str
    status: Literal["graded", "needs_review"]
    review_reasons: list[str]
    provisional: bool = Field(
        description="true until the course's scores are calibrated: show it, do not publish it"
    )
    final_score: float | None
    max_points: float
    cleaned_answer: str
    removed_spans: list[SpanBody]
    judgements: JudgementsBody

    @classmethod
    def of(cls, graded: GradedAnswer) -> Self:
        """From the pipeline's result."""
        return cls(
            answer_id=graded.submission.answer_id,
            status=graded.status,
            review_reasons=list(graded.review_reasons),
            provisional=graded.provisional,
            final_score=graded.final_score,
            max_points=graded.max_points,
            cleaned_answer=graded.cleaned_answer,
            removed_spans=[SpanBody.of(span) for span in graded.removed_spans],
            judgements=JudgementsBody(
                baseline=JudgementBody.of(graded.baseline),
                filter=JudgementBody.of(graded.filter),
                filtered=FilteredJudgementBody.of(graded.filtered),
            ),
        )


class FilterResponse(BaseModel):
    """What the filter would remove. Nothing of it is stored."""

    answer_id: str
    cleaned_answer: str
    removed_spans: list[SpanBody]
    raw_output: str
    finish_reason: FinishReason
    stable: bool = Field(description="filtering the cleaned answer again would remove nothing")
    forward_passes: int
    latency_ms: float

    @classmethod
    def of(cls, answer_id: str, filtered: FilteredText) -> Self:
        """From the filter's result."""
        return cls(
            answer_id=answer_id,
            cleaned_answer=filtered.cleaned,
            removed_spans=[SpanBody.of(span) for span in filtered.removed],
            raw_output=filtered.raw_output,
            finish_reason=filtered.finish_reason,
            stable=filtered.stable,
            forward_passes=filtered.forward_passes,
            latency_ms=filtered.latency_ms,
        )


class JudgementRecord(JudgementBody):
    """The complete record of a Judgement."""

    exam_id: str
    question_id: str
    answer_id: str
    student_id: str
    submission_id: str
    attack_type: str
    prompt: str
    max_points: float
    raw_score: str | None
    cleaned_answer: str | None
    removed_spans: list[SpanBody]
    filter_stable: bool | None
    based_on: str | None
    model_fingerprint: str
    prompt_version: str
    decoding: str
    created_at: datetime
    erased: bool = Field(description="its texts were erased on request, or are past their time")


class PublishedGradeBody(BaseModel):
    """A grade that somebody let count."""

    exam_id: str
    judgement_id: str
    predicted_score: float | None
    run_id: str
    published_by: str
    reason: str
    published_at: datetime

    @classmethod
    def of(cls, grade: PublishedGrade) -> Self:
        """From the ledger's record."""
        judgement = grade.judgement
        return cls(
            exam_id=judgement.exam_id,
            judgement_id=judgement.judgement_id,
            predicted_score=judgement.predicted_score,
            run_id=grade.publication.run_id,
            published_by=grade.publication.published_by,
            reason=grade.publication.reason,
            published_at=grade.publication.published_at,
        )


class AnswerJudgements(BaseModel):
    """Every Judgement of an answer, oldest first."""

    answer_id: str
    judgements: list[JudgementRecord]
    published_grades: list[PublishedGradeBody] = Field(
        description="oldest first; the last one of an exam is the grade of record"
    )

    @classmethod
    def of(
        cls, answer_id: str, judgements: Sequence[Judgement], published: Sequence[PublishedGrade]
    ) -> Self:
        """From the ledger's records; of `published` what these Judgements say."""
        ids = {judgement.judgement_id for judgement in judgements}
        return cls(
            answer_id=answer_id,
            judgements=[JudgementRecord.of(judgement) for judgement in judgements],
            published_grades=[
                PublishedGradeBody.of(grade)
                for grade in published
                if grade.judgement.judgement_id in ids
            ],
        )


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """The service can grade."""

    status: Literal["ready"] = "ready"
    profile: str
    graph: GraphState | None


def _fields(judgement: Judgement) -> dict[str, object]:
    return {
        **vars(judgement),
        "task_type": judgement.stage.task_type,
        "pipeline_variant": judgement.stage.pipeline_variant,
        "max_points": judgement.scale.max_points,
        "removed_spans": [vars(span) for span in judgement.removed_spans],
    }
