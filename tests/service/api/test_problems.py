"""Every error that leaves the application is a problem document, whatever raised it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict
from starlette.testclient import TestClient
from starlette.types import Message

from service import errors
from service.access import LOCAL
from service.api import problems
from service.api.body_limit import BodyLimit
from service.api.json_body import JsonRoute

_LIMIT = 8192


class _Thing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: int
    names: list[str] = []


def _client(raised: Exception | None = None) -> TestClient:
    app = FastAPI()
    app.router.route_class = JsonRoute
    app.add_middleware(BodyLimit, max_bytes=_LIMIT, by_path={})
    problems.add_handlers(app)

    @app.get("/fail")
    def fail() -> None:
        assert raised is not None
        raise raised

    @app.post("/thing")
    def make(thing: _Thing) -> _Thing:
        return thing

    client = TestClient(app, raise_server_exceptions=False)
    client.app_state["caller"] = LOCAL
    return client


def _every_error(base: type[errors.SteadyEvalError]) -> list[type[errors.SteadyEvalError]]:
    return [base, *(leaf for child in base.__subclasses__() for leaf in _every_error(child))]


_ANSWERED = [
    kind for kind in _every_error(errors.SteadyEvalError) if kind is not errors.ClientGoneError
]
"""Every error but the one of which nobody waits to hear."""


@pytest.mark.parametrize("kind", _ANSWERED)
def test_every_error_of_ours_is_a_problem_document(kind: type[errors.SteadyEvalError]) -> None:
    error = kind.__new__(kind)
    error.args = ("what happened",)
    vars(error).update(retry_after=1)

    response = _client(error).get("/fail")

    assert response.headers["content-type"] == problems.MEDIA_TYPE
    problem = problems.Problem.model_validate_json(response.content)
    assert problem.status == response.status_code >= 400
    assert problem.instance == "/fail"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InputError("x"), 422),
        (errors.UnknownExamError("x"), 404),
        (errors.NotReadyError("x"), 503),
        (errors.CanaryError("x"), 503),
        (errors.MissingWeightsError("x"), 503),
        (errors.EngineError("x"), 502),
        (errors.LedgerError("x"), 503),
        (errors.KeyStoreError("x"), 503),
        (errors.UnauthorizedError("x"), 401),
        (errors.ForbiddenError("x"), 403),
    ],
)
def test_status_and_text_of_an_error(error: Exception, status: int) -> None:
    response = _client(error).get("/fail")
    assert response.status_code == status
    assert response.json()["detail"] == "x"


def test_a_prompt_that_is_too_long_comes_with_its_numbers() -> None:
    problem = _client(errors.PromptTooLongError("the prompt", 5000, 4096)).get("/fail").json()
    assert problem["status"] == 413
    assert (problem["tokens"], problem["limit"]) == (5000, 4096)


def test_an_answer_that_is_too_long_comes_with_its_numbers() -> None:
    problem = _client(errors.AnswerTooLongError(30, 20)).get("/fail").json()
    assert problem["status"] == 413
    assert (problem["characters"], problem["limit"]) == (30, 20)


@pytest.mark.parametrize("error", [RuntimeError("secret path"), errors.GraphError("secret path")])
def test_an_unexpected_error_tells_nothing_of_the_inside(error: Exception) -> None:
    response = _client(error).get("/fail")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "RuntimeError" not in response.text


def test_who_comes_too_early_is_told_when_to_come_again() -> None:
    response = _client(errors.NotReadyError("loading")).get("/fail")
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/no", 404), ("GET", "/thing", 405)]
)
def test_errors_of_the_router(method: str, path: str, status: int) -> None:
    response = _client().request(method, path)
    assert response.status_code == response.json()["status"] == status
    assert response.headers["content-type"] == problems.MEDIA_TYPE


def test_allowed_methods_are_named() -> None:
    assert _client().get("/thing").headers["allow"] == "POST"


_JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff\xfe{}", b'{"count": \xe9}', b"[" * 2000, b'{"count": ' + b"9" * 5000 + b"}"],
)
def test_what_cannot_be_read_as_json_is_the_callers_error(body: bytes) -> None:
    response = _client().post("/thing", content=body, headers=_JSON)
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == problems.MEDIA_TYPE


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"count": \xe9}', "the body must be UTF-8 JSON: invalid continuation byte at byte 10"),
        (b'{"count": ' + b"9" * 5000 + b"}", "the body must be UTF-8 JSON: a number has too many"),
        (b'{"count": NaN}', "the body must be UTF-8 JSON: NaN is no number"),
        (b'{"count": 1, "count": 2}', "the body must be UTF-8 JSON: the key 'count' stands there"),
        (b'[{"a": [{"b": 1, "b": 1}]}]', "the body must be UTF-8 JSON: the key 'b' stands there"),
        (b"", "the body must be UTF-8 JSON: it is empty"),
    ],
)
def test_a_body_that_is_no_json_is_malformed_and_says_why(body: bytes, detail: str) -> None:
    problem = _client().post("/thing", content=body, headers=_JSON).json()
    assert problem["status"] == 400
    assert problem["type"] == "urn:steadyeval:problem:malformed-json"
    assert problem["detail"].startswith(detail)


def test_malformed_json_says_where() -> None:
    problem = _client().post("/thing", content='{"count" 1}', headers=_JSON).json()
    assert problem["status"] == 400
    assert "character 9" in problem["detail"]


def test_a_forgotten_content_type_is_named() -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    problem = _client().post("/thing", content='{"count": 1}', headers=form).json()
    assert problem["status"] == 415
    assert "application/json" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/count"),
        ({"count": "many"}, "#/count"),
        ({"count": 1, "names": ["a", 2]}, "#/names/1"),
        ({"count": 1, "a/b~c": 1}, "#/a~1b~0c"),
        ([], "#"),
    ],
)
def test_a_fault_is_named_by_its_pointer(body: Any, pointer: str) -> None:
    problem = _client().post("/thing", json=body).json()
    assert problem["status"] == 422
    assert [fault["pointer"] for fault in problem["errors"]] == [pointer]


def test_a_text_that_utf8_cannot_write_does_not_stop_the_answer() -> None:
    response = _client(errors.InputError("no exam \ud800")).get("/fail")
    assert response.status_code == 422
    assert response.json()["detail"] == "no exam ?"


def test_a_field_name_that_utf8_cannot_write_is_a_fault() -> None:
    response = _client().post("/thing", content=rb'{"count": 1, "\ud800": 1}', headers=_JSON)
    assert response.status_code == 422


def test_many_faults_are_counted_but_not_all_listed() -> None:
    problem = _client().post("/thing", json={"count": 1, "names": [1] * 500}).json()
    assert problem["detail"].startswith("500 ")
    assert len(problem["errors"]) == 100


def test_a_body_over_the_limit_is_refused_with_the_limit() -> None:
    response = _client().post("/thing", content=b" " * (_LIMIT + 1), headers=_JSON)
    assert response.status_code == 413
    assert response.headers["content-type"] == problems.MEDIA_TYPE
    assert str(_LIMIT) in response.json()["detail"]


def test_a_body_over_the_limit_is_not_read_to_its_end() -> None:
    received = 0
    sent: list[Message] = []

    async def receive() -> Message:
        nonlocal received
        received += 1024
        return {"type": "http.request", "body": b" " * 1024, "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "state": {"caller": LOCAL},
        "method": "POST",
        "path": "/thing",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    asyncio.run(_client().app(scope, receive, send))

    assert sent[0]["status"] == 413
    assert received <= _LIMIT + 1024


def test_a_body_that_is_declared_too_long_is_not_read_at_all() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("the body was asked for")

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "state": {"caller": LOCAL},
        "method": "POST",
        "path": "/thing",
        "query_string": b"",
        "headers": [
            (b"content-type", b"application/json"),
            (b"content-length", str(_LIMIT + 1).encode()),
        ],
    }
    asyncio.run(_client().app(scope, receive, send))

    assert sent[0]["status"] == 413


def test_a_body_at_the_limit_is_taken() -> None:
    body = b'{"count": 1}'.ljust(_LIMIT)
    assert _client().post("/thing", content=body, headers=_JSON).status_code == 200
