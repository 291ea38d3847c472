"""Register questions, and read what was judged."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from service.access import Role
from service.api import problems
from service.api.authorization import CallerDep, requires
from service.api.dependencies import LedgerDep, QuestionsDep
from service.api.json_body import JsonRoute
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

router = APIRouter(tags=["records"], route_class=JsonRoute, responses=problems.access_responses())


@router.put("/exams/{exam_id:path}", responses=_WRITE, dependencies=[requires(Role.GRADE)])
def register_exam(exam_id: str, questions: QuestionsDep, ledger: LedgerDep) -> ExamSummary:
    """Register questions of an exam, all of them or, where one is wrong, none.

    A question that is registered already is replaced; questions that are not named stay.
    """
    ledger.register_questions(questions)
    return ExamSummary.of(exam_id, ledger.questions(exam_id))


@router.get(
    "/exams/{exam_id:path}",
    responses=_READ,
    dependencies=[requires(Role.GRADE, Role.READ, Role.AUDIT)],
)
def get_exam(exam_id: str, ledger: LedgerDep, caller: CallerDep) -> ExamSummary:
    """What is registered of an exam."""
    caller.require_exam(exam_id)
    return ExamSummary.of(exam_id, ledger.questions(exam_id))


@router.get(
    "/judgements/{judgement_id}",
    responses=_READ,
    dependencies=[requires(Role.READ, Role.AUDIT)],
)
def get_judgement(judgement_id: str, ledger: LedgerDep, caller: CallerDep) -> JudgementRecord:
    """The complete record of one Judgement."""
    judgement = ledger.judgement(judgement_id)
    if not caller.reaches(judgement.exam_id):
        # In the ledger's words, so that nobody learns of records of other exams.
        raise UnknownExamError(f"no judgement {judgement_id!r} is recorded")
    return JudgementRecord.of(judgement)


@router.get(
    "/answers/{answer_id:path}/judgements",
    responses=_READ,
    dependencies=[requires(Role.READ, Role.AUDIT)],
)
def list_answer_judgements(
    answer_id: str, ledger: LedgerDep, caller: CallerDep, exam_id: str | None = None
) -> AnswerJudgements:
    """Every Judgement of an answer. Answer ids count within their exam: `exam_id` picks one."""
    if exam_id is not None:
        caller.require_exam(exam_id)
    judgements = [
        judgement
        for judgement in ledger.judgements_of_answer(answer_id, exam_id)
        if caller.reaches(judgement.exam_id)
    ]
    if not judgements:
        raise UnknownExamError(f"no judgement of an answer {answer_id!r} is recorded")
    published = ledger.published_grades(answer_id, exam_id)
    return AnswerJudgements.of(answer_id, judgements, published)
