"""Grade an answer, or only see what the filter would remove from it."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from service.access import Role
from service.api import problems
from service.api.authorization import requires
from service.api.dependencies import PipelineDep, TaskDep
from service.api.json_body import JsonRoute
from service.api.protocol import FilterResponse, GradeResponse

router = APIRouter(
    tags=["grading"],
    route_class=JsonRoute,
    dependencies=[requires(Role.GRADE)],
    responses=problems.access_responses()
    | problems.responses(
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    ),
)


@router.post("/grade")
def grade(task: TaskDep, pipeline: PipelineDep) -> GradeResponse:
    """Grade an answer: raw, filtered, and the filtered one again.

    The three Judgements are on disk before the response leaves; a request that fails leaves
    nothing. The same request finds its own result again. A question that comes along must not
    differ from the registered one of its ids.
    """
    return GradeResponse.of(pipeline.grade(task.question, task.answer))


@router.post("/filter")
def filter_answer(task: TaskDep, pipeline: PipelineDep) -> FilterResponse:
    """Show what the filter would remove. Nothing is graded, nothing is stored."""
    [filtered] = pipeline.clean_many([(task.question, task.answer.text)])
    return FilterResponse.of(task.answer.answer_id, filtered)
