"""A whole exam in the background: start it, watch it, stop it, fetch its results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from email.message import Message
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal

from anyio import CapacityLimiter, sleep, to_thread
from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from service.access import Caller, Role
from service.api import problems
from service.api.authorization import CallerDep, requires
from service.api.batch_protocol import BatchBody, BatchStatus
from service.api.dependencies import BackendDep
from service.api.json_body import JsonRoute
from service.api.result_files import csv_lines, json_lines
from service.errors import JobStateError, UnknownExamError
from service.jobs import Job, NewItem, items_of_exam, items_of_file, results

PATH = "/batches"

_JSON = "application/json"
_CSV = "text/csv"
_JSON_LINES = ("application/jsonl", "application/x-ndjson")
_WRITERS = {"jsonl": (json_lines, _JSON_LINES[0]), "csv": (csv_lines, _CSV)}

_POLL_S = 1.0
_READERS_AT_ONCE = 4
_UPLOADS_AT_ONCE = 2

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            _JSON: {"schema": BatchBody.model_json_schema()},
            **{kind: {"schema": {"type": "string"}} for kind in (*_JSON_LINES, _CSV)},
        },
    }
}
_FILES: dict[int | str, dict[str, Any]] = {
    HTTPStatus.OK.value: {
        "description": "One line for each answer",
        "content": {kind: {"schema": {"type": "string"}} for kind in (_JSON_LINES[0], _CSV)},
    }
}
_KNOWN = problems.responses(
    HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE
)
_STATE = problems.responses(HTTPStatus.CONFLICT)

router = APIRouter(tags=["batches"], route_class=JsonRoute, responses=problems.access_responses())

# Neither may hold up the event loop, nor wait for the gradings in the common thread pool.
_readers = CapacityLimiter(_READERS_AT_ONCE)
_uploads = CapacityLimiter(_UPLOADS_AT_ONCE)


async def _items(request: Request, backend: BackendDep, caller: CallerDep) -> list[NewItem]:
    kind = _media_type(request)
    if kind == _JSON:
        read: Callable[[], list[NewItem]] = partial(
            items_of_exam, backend.ledger, _exam_id(await request.json(), caller)
        )
    elif kind in (*_JSON_LINES, _CSV):
        read = partial(
            items_of_file,
            await request.body(),
            is_csv=kind == _CSV,
            max_answer_chars=backend.settings.max_answer_chars,
            pseudonyms=backend.settings.pseudonyms,
        )
    else:
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"send an exam file as {_JSON_LINES[0]} or {_CSV}, or an exam's id as {_JSON}",
        )
    items = await to_thread.run_sync(read, limiter=_uploads)
    for exam_id in {item.question.exam_id for item in items}:
        caller.require_exam(exam_id)
    return items


def _media_type(request: Request) -> str:
    message = Message()
    message["content-type"] = request.headers.get("content-type", "")
    return message.get_content_type()


def _exam_id(body: Any, caller: Caller) -> str:
    try:
        exam_id = BatchBody.model_validate(body).exam_id
    except ValidationError as error:
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]
        raise RequestValidationError(faults, body=body) from error
    caller.require_exam(exam_id)
    return exam_id


def _job(batch_id: str, backend: BackendDep, caller: CallerDep) -> Job:
    job = backend.jobs.job(batch_id)
    if not _may_see(caller, job):
        # In the words for one that is not there, so that nobody learns of others' batches.
        raise UnknownExamError(f"no batch {batch_id!r} is known; ended ones are kept for 30 days")
    return job


def _may_see(caller: Caller, job: Job) -> bool:
    """Whoever reads grades sees the batches of the exams in reach; who only grades, their own."""
    reads = not caller.roles.isdisjoint({Role.READ, Role.AUDIT, Role.ADMIN})
    return (reads or caller.prefix == job.created_by) and all(map(caller.reaches, job.exams))


ItemsDep = Annotated[list[NewItem], Depends(_items)]
JobDep = Annotated[Job, Depends(_job)]


@router.post(
    PATH,
    status_code=HTTPStatus.ACCEPTED,
    dependencies=[requires(Role.GRADE)],
    openapi_extra=_BODY,
    responses=problems.responses(
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.SERVICE_UNAVAILABLE,
    ),
)
def create_batch(items: ItemsDep, backend: BackendDep, caller: CallerDep) -> BatchStatus:
    """Grade an exam file, or again all answers of an exam, in the background.

    The batch is on disk before the response leaves, and goes on after a restart. The same answers
    sent again before it has ended are the same batch.
    """
    job = backend.jobs.create(items, caller.prefix)
    backend.job_runner.wake()
    return BatchStatus.of(job)


@router.get(
    PATH + "/{batch_id}",
    dependencies=[requires(Role.GRADE, Role.READ, Role.AUDIT)],
    responses=_KNOWN,
)
def get_batch(job: JobDep) -> BatchStatus:
    """How far a batch is."""
    return BatchStatus.of(job)


@router.get(
    PATH + "/{batch_id}/events",
    dependencies=[requires(Role.GRADE, Role.READ, Role.AUDIT)],
    responses=_KNOWN,
    response_class=EventSourceResponse,
)
async def stream_batch(job: JobDep, backend: BackendDep) -> AsyncIterator[ServerSentEvent]:
    """How far a batch is, at each change, until it has ended."""
    shown = None
    while not backend.stopping:
        status = BatchStatus.of(job)
        if status != shown:
            yield ServerSentEvent(event="progress", data=status)
        if status.state.ended:
            return
        shown = status
        await sleep(_POLL_S)
        job = await to_thread.run_sync(backend.jobs.job, job.job_id, limiter=_readers)


@router.get(
    PATH + "/{batch_id}/results",
    dependencies=[requires(Role.GRADE, Role.READ, Role.AUDIT)],
    responses=_KNOWN | _STATE | _FILES,
    response_class=StreamingResponse,
)
def get_batch_results(
    job: JobDep, backend: BackendDep, format: Literal["jsonl", "csv"] = "jsonl"
) -> StreamingResponse:
    """One line for each answer in the order of the batch, once it has ended.

    CSV: cells that a spreadsheet would take for a formula get a `'` before them.
    """
    if not job.state.ended:
        raise JobStateError(
            f"batch {job.job_id} is {job.state}; its results come when it has ended"
        )
    write, media_type = _WRITERS[format]
    lines = write(results(backend.jobs, backend.ledger, job.job_id))
    return StreamingResponse(
        lines,
        media_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="batch-{job.job_id}.{format}"'},
    )


@router.post(
    PATH + "/{batch_id}/cancel",
    dependencies=[requires(Role.GRADE)],
    responses=_KNOWN | _STATE,
)
def cancel_batch(job: JobDep, backend: BackendDep) -> BatchStatus:
    """Grade no more of a batch; what is graded stays."""
    return BatchStatus.of(backend.jobs.cancel(job.job_id))


@router.post(
    PATH + "/{batch_id}/resume",
    dependencies=[requires(Role.GRADE)],
    responses=_KNOWN | _STATE | problems.responses(HTTPStatus.TOO_MANY_REQUESTS),
)
def resume_batch(job: JobDep, backend: BackendDep) -> BatchStatus:
    """Go on with a cancelled batch, or try again what failed and may pass this time."""
    resumed = backend.jobs.resume(job.job_id)
    backend.job_runner.wake()
    return BatchStatus.of(resumed)
