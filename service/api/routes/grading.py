"""Grade an answer, or only see what the filter would remove from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Request

from service.access import Role
from service.api import problems
from service.api.authorization import requires
from service.api.dependencies import BackendDep, PipelineDep, TaskDep
from service.api.json_body import JsonRoute
from service.api.protocol import FilterResponse, GradeResponse
from service.errors import DeadlineError, EngineError

_Result = TypeVar("_Result")

router = APIRouter(
    tags=["grading"],
    route_class=JsonRoute,
    dependencies=[requires(Role.GRADE)],
    responses=problems.access_responses()
    | problems.responses(
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.CONFLICT,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    ),
)


class _Admitted:
    """Does the work of a request where a place is free, within its time."""

    def __init__(self, request: Request, backend: BackendDep) -> None:
        self._receive = request.receive
        self._backend = backend

    async def run(self, work: Callable[[], _Result]) -> _Result:
        try:
            return await self._backend.admission.run(work, self._receive)
        except (EngineError, DeadlineError) as error:
            self._backend.doubt(error)
            raise


AdmittedDep = Annotated[_Admitted, Depends()]


@router.post("/grade")
async def grade(task: TaskDep, pipeline: PipelineDep, admitted: AdmittedDep) -> GradeResponse:
    """Grade an answer: raw, filtered, and the filtered one again.

    The three Judgements are on disk before the response leaves; a request that fails leaves
    nothing. The same request finds its own result again. A question that comes along must not
    differ from the registered one of its ids.
    """
    graded = await admitted.run(partial(pipeline.grade, task.question, task.answer))
    return GradeResponse.of(graded)


@router.post("/filter")
async def filter_answer(
    task: TaskDep, pipeline: PipelineDep, admitted: AdmittedDep
) -> FilterResponse:
    """Show what the filter would remove. Nothing is graded, nothing is stored."""
    clean = partial(pipeline.clean_many, [(task.question, task.answer.text)])
    [filtered] = await admitted.run(clean)
    return FilterResponse.of(task.answer.answer_id, filtered)
