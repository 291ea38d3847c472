"""Register questions, and read what was judged."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from service.api import problems
from service.api.dependencies import LedgerDep, QuestionsDep
from service.api.protocol import (
    AnswerJudgements,
    ExamSummary,
    JudgementRecord,
)
from service.errors import UnknownExamError

_READ = problems.responses(
    HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE
)
_WRITE = problems.responses(
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.SERVICE_UNAVAILABLE,
)

router = APIRouter(tags=["records"])


@router.put("/exams/{exam_id:path}", responses=_WRITE)
def register_exam(exam_id: str, questions: QuestionsDep, ledger: LedgerDep) -> ExamSummary:
    """Register questions of an exam, all of them or, where one is wrong, none.

    A question that is registered already is replaced; questions that are not named stay.
    """
    ledger.register_questions(questions)
    return ExamSummary.of(exam_id, ledger.questions(exam_id))


@router.get("/exams/{exam_id:path}", responses=_READ)
def get_exam(exam_id: str, ledger: LedgerDep) -> ExamSummary:
    """What is registered of an exam."""
    return ExamSummary.of(exam_id, ledger.questions(exam_id))


@router.get("/judgements/{judgement_id}", responses=_READ)
def get_judgement(judgement_id: str, ledger: LedgerDep) -> JudgementRecord:
    """The complete record of one Judgement."""
    return JudgementRecord.of(ledger.judgement(judgement_id))


@router.get("/answers/{answer_id:path}/judgements", responses=_READ)
def list_answer_judgements(
    answer_id: str, ledger: LedgerDep, exam_id: str | None = None
) -> AnswerJudgements:
    """Every Judgement of an answer. Answer ids count within their exam: `exam_id` picks one."""
    judgements = ledger.judgements_of_answer(answer_id, exam_id)
    if not judgements:
        raise UnknownExamError(f"no judgement of an answer {answer_id!r} is recorded")
    published = ledger.published_grades(answer_id, exam_id)
    return AnswerJudgements.of(answer_id, judgements, published)
