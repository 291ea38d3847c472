"""No text of a caller starts a header or a line of the log, and no text of an answer is logged."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tried
from hypothesis import strategies as st
from starlette.testclient import TestClient

from service.errors import EngineError
from service.observability.log_lines import LineFormatter
from tests.service.api.conftest import grade_request
from tests.service.api.scripted import ScriptedEngine

BREAKS = "\r\n \n \r \x0b \x0c \x1c \x1e \x85 \u2028 \u2029 \x1b[2K \x00 \x08 \u202e"
FORGED = f"{BREAKS}2026-01-01 00:00:00,000 INFO forged"
_SECRET = "photosynthesis-of-kim"


class Log:
    """All records of the service, as `steadyeval serve` writes them."""

    def __init__(self) -> None:
        self._written = io.StringIO()
        self.records = 0
        self.handler = logging.StreamHandler(self._written)
        self.handler.setFormatter(LineFormatter())
        self.handler.addFilter(self._count)

    def _count(self, _: logging.LogRecord) -> bool:
        self.records += 1
        return True

    @property
    def text(self) -> str:
        return self._written.getvalue()


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log()
    logger = logging.getLogger("service")
    level = logger.level
    logger.addHandler(log.handler)
    logger.setLevel(logging.DEBUG)
    yield log
    logger.removeHandler(log.handler)
    logger.setLevel(level)


def texts_of(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where texts stand in a body."""
    if isinstance(body, str):
        yield path
    elif isinstance(body, dict | list):
        for key, value in body.items() if isinstance(body, dict) else enumerate(body):
            yield from texts_of(value, (*path, key))


def request_with(path: tuple[Any, ...], text: str) -> dict[str, Any]:
    body = grade_request()
    body["options"] = {"attack_type": "unlabelled"}
    place: Any = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = text
    return body


_FIELDS = list(texts_of({**grade_request(), "options": {"attack_type": "unlabelled"}}))


@pytest.mark.parametrize("field", _FIELDS, ids=lambda path: "/".join(map(str, path)))
@pytest.mark.parametrize("break_", ["\r\n", "\x85", "\u2028", "\x1b[2K"], ids=ascii)
def test_no_field_starts_a_line_of_the_log_or_a_header(
    client: TestClient, engine: ScriptedEngine, log: Log, field: tuple[Any, ...], break_: str
) -> None:
    engine.failure = EngineError(f"failed on {break_}forged")
    response = client.post("/grade", json=request_with(field, f"x{break_}forged: 1"))
    assert response.status_code in (422, 502)
    assert "forged" not in response.headers
    assert len(log.text.splitlines()) == log.records
    assert "\x1b" not in log.text


@pytest.mark.parametrize(
    "path", ["/exams/{}", "/judgements/{}", "/answers/{}/judgements", "/{}", "/batches/{}"]
)
def test_no_id_in_a_path_starts_a_header(client: TestClient, path: str) -> None:
    evil = quote(f"x{BREAKS}Set-Cookie: a=b")
    response = client.get(path.format(evil))
    assert response.status_code == 404
    assert "set-cookie" not in response.headers
    assert set(response.headers) <= set(client.get("/none").headers)


def test_no_header_of_a_caller_comes_back(client: TestClient) -> None:
    for name in ("origin", "x-request-id", "x-forwarded-host", "authorization", "cookie"):
        response = client.get("/exams/e", headers={name: "marked; value"})
        assert "marked" not in str(response.headers)
        assert "marked" not in response.text


@pytest.mark.parametrize("kind", [RuntimeError, KeyError, ValueError])
def test_no_text_of_an_answer_is_logged_even_where_an_error_repeats_it(
    client: TestClient, engine: ScriptedEngine, log: Log, kind: type[Exception]
) -> None:
    engine.failure = kind(f"cannot grade: {_SECRET}")
    engine.failure.__cause__ = OSError(_SECRET)
    assert client.post("/grade", json=grade_request(_SECRET)).status_code == 500
    logging.getLogger("service").error("as the server does", exc_info=engine.failure)
    assert _SECRET not in log.text
    assert kind.__name__ in log.text
    assert "OSError" in log.text
    assert "scripted.py" in log.text


@tried(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8")))
def test_a_record_is_one_line_whatever_its_text_holds(text: str) -> None:
    record = logging.LogRecord("a", logging.INFO, "f", 1, "%s|%s", (text, FORGED), None)
    line = LineFormatter().format(record)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
