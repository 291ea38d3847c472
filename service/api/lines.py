"""A line of a results file: the API's response, and before it whose answer it is."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel

from service.api.protocol import FilterResponse, GradeResponse
from service.exam import ExamItem
from service.filter import FilteredText
from service.jobs import Reason, Ungraded
from service.pipeline import GradedAnswer


class _AnswerNames(BaseModel):
    """What tells the lines of several exams and variants apart, beside `answer_id`."""

    exam_id: str
    question_id: str
    student_id: str
    attack_type: str


class GradedLine(GradeResponse, _AnswerNames):
    """A line of `steadyeval grade`, and of a batch's results."""

    @classmethod
    def of(cls, graded: GradedAnswer) -> Self:
        """From the pipeline's result."""
        submission = graded.submission
        return cls(
            exam_id=submission.exam_id,
            question_id=submission.question_id,
            student_id=submission.student_id,
            attack_type=submission.attack_type,
            **dict(GradeResponse.of(graded)),
        )


class UngradedLine(_AnswerNames):
    """A line of a batch's results for an answer that has no grade."""

    answer_id: str
    status: Literal["failed", "not_graded"]
    reason: Reason | None
    detail: str | None

    @classmethod
    def of(cls, ungraded: Ungraded) -> Self:
        """From the job's item: `not_graded` where its turn never came."""
        item = ungraded.item
        return cls(
            exam_id=item.question.exam_id,
            question_id=item.question.question_id,
            student_id=item.student_id,
            attack_type=item.attack_type,
            answer_id=item.answer_id,
            status="not_graded" if item.failure is None else "failed",
            reason=item.failure and item.failure.reason,
            detail=item.failure and item.failure.detail,
        )


class FilteredLine(FilterResponse, _AnswerNames):
    """A line of `steadyeval filter`."""

    @classmethod
    def of_item(cls, item: ExamItem, filtered: FilteredText) -> Self:
        """From the filter's result."""
        return cls(
            exam_id=item.question.exam_id,
            question_id=item.question.question_id,
            student_id=item.answer.student_id,
            attack_type=item.answer.attack_type,
            **dict(FilterResponse.of(item.answer.answer_id, filtered)),
        )
