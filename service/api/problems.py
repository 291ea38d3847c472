"""Every error of the API as a problem document (RFC 9457)."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from service.api.json_body import UnreadableBodyError
from service.errors import (
    AnswerTooLongError,
    ClientGoneError,
    DeadlineError,
    EngineError,
    ErasedError,
    ForbiddenError,
    InputError,
    JobStateError,
    JobStoreError,
    KeyStoreError,
    LedgerError,
    ModelError,
    NotReadyError,
    OverloadedError,
    PromptTooLongError,
    QueueFullError,
    SteadyEvalError,
    TooManyRequestsError,
    UnauthorizedError,
    UnknownExamError,
)

MEDIA_TYPE = "application/problem+json"
REF_TEMPLATE = "#/components/schemas/{model}"

_FAULTS_SHOWN = 100
_RETRY_AFTER_SECONDS = "5"
_RETRY_QUEUE_SECONDS = "60"
_CLIENT_CLOSED_REQUEST = 499
"""For log and metrics, as nginx has it; nobody is there to read it."""
_EXPECTED = (NotReadyError, OverloadedError)

_log = logging.getLogger(__name__)


class Fault(BaseModel):
    """One fault in a request body."""

    pointer: str = Field(description="JSON pointer to the faulty field, as a URI fragment")
    detail: str


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(description="identifies the kind of problem; `about:blank` for plain HTTP")
    title: str
    status: int
    detail: str
    instance: str = Field(description="path of the request")
    errors: list[Fault] | None = Field(
        None, description=f"the first {_FAULTS_SHOWN} faults in the request body"
    )
    limit: int | None = Field(None, description="what `tokens` or `characters` may be at most")
    tokens: int | None = Field(None, description="tokens that the prompt needs")
    characters: int | None = Field(None, description="code points of the answer")


@dataclass(frozen=True)
class _Kind:
    status: HTTPStatus
    name: str
    title: str

    @property
    def type(self) -> str:
        return f"urn:steadyeval:problem:{self.name}"


_MALFORMED = _Kind(HTTPStatus.BAD_REQUEST, "malformed-json", "The body is not JSON")
_NOT_JSON = _Kind(
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "not-json", "The body must be sent as application/json"
)
_INVALID = _Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", "The request is not valid")
_INTERNAL = _Kind(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "The service made an error")

_KINDS: dict[type[SteadyEvalError], _Kind] = {
    SteadyEvalError: _INTERNAL,
    InputError: _INVALID,
    UnknownExamError: _Kind(HTTPStatus.NOT_FOUND, "not-registered", "Not registered"),
    ErasedError: _Kind(HTTPStatus.CONFLICT, "erased", "The answer was erased meanwhile"),
    JobStateError: _Kind(HTTPStatus.CONFLICT, "batch-state", "The batch is in another state"),
    PromptTooLongError: _Kind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "prompt-too-long", "The prompt is too long"
    ),
    AnswerTooLongError: _Kind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "answer-too-long", "The answer is too long"
    ),
    NotReadyError: _Kind(HTTPStatus.SERVICE_UNAVAILABLE, "not-ready", "Not ready to grade"),
    OverloadedError: _Kind(
        HTTPStatus.SERVICE_UNAVAILABLE, "overloaded", "Too many requests wait to be graded"
    ),
    DeadlineError: _Kind(HTTPStatus.GATEWAY_TIMEOUT, "deadline", "It took too long"),
    ModelError: _Kind(HTTPStatus.SERVICE_UNAVAILABLE, "model", "The model cannot be used"),
    EngineError: _Kind(HTTPStatus.BAD_GATEWAY, "engine", "The model call failed"),
    LedgerError: _Kind(
        HTTPStatus.SERVICE_UNAVAILABLE, "ledger", "The record could not be written or read"
    ),
    KeyStoreError: _Kind(
        HTTPStatus.SERVICE_UNAVAILABLE, "keys", "The API keys could not be looked up"
    ),
    JobStoreError: _Kind(
        HTTPStatus.SERVICE_UNAVAILABLE, "batches", "The batches could not be written or read"
    ),
    QueueFullError: _Kind(HTTPStatus.TOO_MANY_REQUESTS, "queue-full", "No more batches may wait"),
    UnauthorizedError: _Kind(HTTPStatus.UNAUTHORIZED, "unauthorized", "No valid API key"),
    ForbiddenError: _Kind(HTTPStatus.FORBIDDEN, "forbidden", "The API key does not reach that far"),
    TooManyRequestsError: _Kind(
        HTTPStatus.TOO_MANY_REQUESTS, "too-many-requests", "The API key asks too often"
    ),
}


def add_handlers(app: FastAPI) -> None:
    """Make every error that leaves `app` a problem document."""
    app.add_exception_handler(SteadyEvalError, respond)
    app.add_exception_handler(ClientGoneError, _on_client_gone)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(UnreadableBodyError, _on_unreadable_body)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_unexpected_error)


def responses(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """OpenAPI `responses` that declare a problem document for each status."""
    schema = {"$ref": REF_TEMPLATE.format(model=Problem.__name__)}
    return {
        status.value: {"description": status.phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


def access_responses() -> dict[int | str, dict[str, Any]]:
    """The `responses` of every route that needs a key."""
    return responses(HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


def schemas() -> dict[str, Any]:
    """OpenAPI component schemas that `responses` refers to."""
    _, definitions = models_json_schema([(Problem, "serialization")], ref_template=REF_TEMPLATE)
    return dict(definitions["$defs"])


async def respond(request: Request, error: Exception) -> Response:
    """The answer to an error of ours."""
    assert isinstance(error, SteadyEvalError)
    kind = next(_KINDS[base] for base in type(error).__mro__ if base in _KINDS)
    if kind is _INTERNAL:
        return await _on_unexpected_error(request, error)
    if kind.status >= HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(error, _EXPECTED):
        _log.error("%s %s: %s", request.method, request.url.path, error)
    numbers = {name: getattr(error, name, None) for name in ("tokens", "characters", "limit")}
    return _problem(request, kind, str(error), headers=_headers(error), **numbers)


def _headers(error: SteadyEvalError) -> dict[str, str] | None:
    match error:
        case NotReadyError() | OverloadedError():
            return {"Retry-After": _RETRY_AFTER_SECONDS}
        case QueueFullError():
            return {"Retry-After": _RETRY_QUEUE_SECONDS}
        case TooManyRequestsError():
            return {"Retry-After": str(error.retry_after)}
        case UnauthorizedError():
            return {"WWW-Authenticate": 'Bearer realm="steadyeval"'}
    return None


async def _on_client_gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=_CLIENT_CLOSED_REQUEST)


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if isinstance(error.body, bytes):
        return _problem(request, _NOT_JSON, "send the header Content-Type: application/json")
    faults = [
        Fault(pointer=_pointer(fault["loc"][1:]), detail=_reason(fault))
        for fault in found[:_FAULTS_SHOWN]
    ]
    return _problem(
        request, _INVALID, f"{len(found)} fault(s); nothing was recorded", errors=faults
    )


async def _on_unreadable_body(request: Request, error: Exception) -> Response:
    return _problem(request, _MALFORMED, f"the body must be UTF-8 JSON: {error}")


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    # FastAPI's own answer to a body that its JSON reader gives up on, without the reason.
    if isinstance(error.__cause__, UnreadableBodyError):
        return await _on_unreadable_body(request, error.__cause__)
    title = HTTPStatus(error.status_code).phrase
    problem = Problem(
        type="about:blank",
        title=title,
        status=error.status_code,
        detail=error.detail,
        instance=request.url.path,
    )
    return _render(problem, error.headers)


async def _on_unexpected_error(request: Request, _error: Exception) -> Response:
    return _problem(request, _INTERNAL, "the service's log says more")


def _problem(
    request: Request,
    kind: _Kind,
    detail: str,
    *,
    headers: dict[str, str] | None = None,
    **members: Any,
) -> Response:
    problem = Problem(
        type=kind.type,
        title=kind.title,
        status=kind.status,
        detail=detail,
        instance=request.url.path,
        **members,
    )
    return _render(problem, headers)


def _render(problem: Problem, headers: Any = None) -> Response:
    # A field name or id that a caller sent may hold what UTF-8 cannot write.
    text = json.dumps(problem.model_dump(exclude_none=True), ensure_ascii=False)
    return Response(text.encode("utf-8", "replace"), problem.status, headers, media_type=MEDIA_TYPE)


def _pointer(location: Sequence[int | str]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in location)
    return "#" + "".join(f"/{step}" for step in steps)


def _reason(fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        return "unknown field"
    return str(fault["msg"]).removeprefix("Value error, ")
