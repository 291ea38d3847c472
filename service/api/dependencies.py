"""What handlers ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError

from service.api.authorization import CallerDep
from service.api.backend import Backend
from service.api.protocol import ExamBody, GradeBody
from service.errors import AnswerTooLongError
from service.exam import Answer, Question
from service.ledger import Ledger
from service.pipeline import GradingPipeline


def _backend(request: Request) -> Backend:
    backend = request.app.state.backend
    assert isinstance(backend, Backend)
    return backend


BackendDep = Annotated[Backend, Depends(_backend)]


def _ledger(backend: BackendDep) -> Ledger:
    return backend.ledger


def _pipeline(backend: BackendDep) -> GradingPipeline:
    return backend.pipeline


LedgerDep = Annotated[Ledger, Depends(_ledger)]
PipelineDep = Annotated[GradingPipeline, Depends(_pipeline)]


@dataclass(frozen=True)
class Task:
    """An answer with its question, whichever way the request named it."""

    question: Question
    answer: Answer


def _task(body: GradeBody, backend: BackendDep, caller: CallerDep) -> Task:
    caller.require_exam(body.of_exam)
    answer = backend.settings.pseudonyms.answer(body.to_answer())
    limit = backend.settings.max_answer_chars
    if len(answer.text) > limit:
        raise AnswerTooLongError(len(answer.text), limit)
    if body.question is not None:
        return Task(body.question.to_question(), answer)
    assert body.question_id is not None
    return Task(backend.ledger.question(body.of_exam, body.question_id), answer)


def _questions(exam_id: str, body: ExamBody, caller: CallerDep) -> list[Question]:
    caller.require_exam(exam_id)
    seen: set[str] = set()
    faults = []
    for place, question in enumerate(body.questions):
        if question.dataset != exam_id:
            faults.append(_fault(place, "dataset", f"must be the exam's id, {exam_id!r}"))
        if question.question_id in seen:
            faults.append(_fault(place, "question_id", "is there twice"))
        seen.add(question.question_id)
    if faults:
        raise RequestValidationError(faults)
    return [question.to_question() for question in body.questions]


def _fault(place: int, field: str, reason: str) -> dict[str, object]:
    return {"type": "value_error", "loc": ("body", "questions", place, field), "msg": reason}


TaskDep = Annotated[Task, Depends(_task)]
QuestionsDep = Annotated[list[Question], Depends(_questions)]
