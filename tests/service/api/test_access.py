"""Keys at work, and what surrounds an answer: limits, headers, hosts, the page."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from service.access import KeyLimits, Role
from service.api.app import create_app
from service.api.backend import Backend
from service.settings import Settings
from tests.service.api.conftest import LOCAL, grade_request
from tests.service.api.keyed import key_of
from tests.service.api.scripted import ScriptedEngine


def test_the_first_key_closes_a_running_service(client: TestClient, backend: Backend) -> None:
    assert client.post("/grade", json=grade_request()).status_code == 200
    key = key_of(backend, Role.GRADE)
    refused = client.post("/grade", json=grade_request())
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert refused.json()["type"].endswith(":unauthorized")
    assert client.post("/grade", json=grade_request(), headers=key).status_code == 200


def test_a_key_that_is_revoked_expired_or_rotated_ends_in_a_running_service(
    client: TestClient, backend: Backend
) -> None:
    day = timedelta(days=1)
    reader = frozenset({Role.READ})
    revoked, rotated = (backend.keys.create("a", reader, lifetime=day) for _ in range(2))
    expired = backend.keys.create("a", reader, lifetime=timedelta(0))
    backend.keys.revoke(revoked.key.prefix)
    heir = backend.keys.rotate(rotated.key.prefix, lifetime=day, overlap=timedelta(0))
    for ended in (revoked, rotated, expired):
        response = client.get("/exams/e", headers={"Authorization": f"Bearer {ended.token}"})
        assert response.status_code == 401
        assert ended.token not in response.text
    response = client.get("/exams/e", headers={"Authorization": f"Bearer {heir.token}"})
    assert response.status_code == 404


def test_a_stranger_is_refused_before_the_body_is_read(
    client: TestClient, backend: Backend
) -> None:
    key_of(backend, Role.GRADE)
    headers = {"content-length": "9999999999", "content-type": "application/json"}
    assert client.post("/grade", content=b"{", headers=headers).status_code == 401


def test_a_key_that_asks_too_often_is_told_when_to_come_again(
    settings: Settings, engine: ScriptedEngine
) -> None:
    backend = Backend(settings.model_copy(update={"requests_per_minute": 2}), lambda _: engine)
    with TestClient(create_app(backend), base_url=LOCAL) as client:
        eager, other = key_of(backend, Role.READ), key_of(backend, Role.READ)
        assert [client.get("/exams/e", headers=eager).status_code for _ in range(3)] == [
            404,
            404,
            429,
        ]
        refused = client.get("/exams/e", headers=eager)
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert refused.json()["type"].endswith(":too-many-requests")
        assert client.get("/exams/e", headers=other).status_code == 404
        assert client.get("/healthz").status_code == 200


def test_a_key_with_a_rate_of_its_own_is_held_to_that(client: TestClient, backend: Backend) -> None:
    slow = key_of(backend, Role.READ, limits=KeyLimits(requests_per_minute=1))
    other = key_of(backend, Role.READ)
    assert client.get("/exams/e", headers=slow).status_code == 404
    refused = client.get("/exams/e", headers=slow)
    assert refused.status_code == 429
    assert "1 times a minute" in refused.json()["detail"]
    assert [client.get("/exams/e", headers=other).status_code for _ in range(3)] == [404] * 3


@pytest.mark.parametrize("path", ["/grade", "/filter", "/batches"])
def test_a_key_with_a_size_of_its_own_sends_nothing_longer(
    client: TestClient, backend: Backend, path: str
) -> None:
    small = key_of(backend, Role.GRADE, limits=KeyLimits(max_body_bytes=2048))
    other = key_of(backend, Role.GRADE)
    for headers in (small, other):
        headers["Content-Type"] = "application/json"
    body = b" " * 2049
    refused = client.post(path, content=body, headers=small)
    assert refused.status_code == 413
    assert refused.headers["content-type"] == "application/problem+json"
    assert "2048 bytes" in refused.json()["detail"]
    in_pieces = client.post(path, content=iter([body[:1024], body[1024:]]), headers=small)
    assert in_pieces.status_code == 413
    assert client.post(path, content=body[1:], headers=small).status_code != 413
    assert client.post(path, content=body, headers=other).status_code != 413


def test_a_size_of_its_own_never_lets_a_key_send_more_than_the_settings(
    settings: Settings, engine: ScriptedEngine
) -> None:
    backend = Backend(settings.model_copy(update={"max_request_bytes": 1024}), lambda _: engine)
    large = key_of(backend, Role.GRADE, limits=KeyLimits(max_body_bytes=4096))
    with TestClient(create_app(backend), base_url=LOCAL) as client:
        assert client.post("/grade", content=b" " * 1025, headers=large).status_code == 413


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "10.0.0.1:8080", "[::2]"])
def test_without_keys_only_names_of_this_machine_are_served(client: TestClient, host: str) -> None:
    refused = client.get("/exams/e", headers={"host": host})
    assert refused.status_code == 403
    assert "keys create" in refused.json()["detail"]
    assert client.get("/healthz", headers={"host": host}).status_code == 200
    assert client.get("/readyz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "[::1]:8080", "127.0.0.1:1"])
def test_every_name_of_this_machine_is_served(client: TestClient, host: str) -> None:
    assert client.get("/exams/e", headers={"host": host}).status_code == 404


def test_with_keys_any_name_is_served(client: TestClient, backend: Backend) -> None:
    headers = {**key_of(backend, Role.READ), "host": "grader.example.org"}
    assert client.get("/exams/e", headers=headers).status_code == 404


def test_readiness_tells_strangers_no_reasons(settings: Settings) -> None:
    def open_engine(_: Settings) -> ScriptedEngine:
        raise RuntimeError("no")

    backend = Backend(settings, open_engine)
    key = key_of(backend, Role.READ)
    with TestClient(create_app(backend), base_url=LOCAL) as client:
        stranger, known = client.get("/readyz"), client.get("/readyz", headers=key)
    assert stranger.status_code == known.status_code == 503
    assert stranger.json()["detail"] == "not ready; ask with an API key for the reason"
    assert "model" in known.json()["detail"]


def test_a_file_of_keys_that_cannot_be_read_opens_nothing(
    client: TestClient, backend: Backend
) -> None:
    key = key_of(backend, Role.READ)
    with closing(sqlite3.connect(backend.keys.path)) as connection:
        connection.execute("DROP TABLE api_key")
    for headers in (key, {}):
        response = client.get("/exams/e", headers=headers)
        assert response.status_code in (401, 503)
    assert client.get("/healthz").status_code == 200


# --- what surrounds an answer ---


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/healthz"),
        ("GET", "/docs"),
        ("GET", "/none"),
        ("POST", "/grade"),
        ("PUT", "/grade"),
    ],
)
def test_every_answer_is_kept_from_caches_frames_and_guesses(
    client: TestClient, method: str, path: str
) -> None:
    _assert_guarded(client.request(method, path).headers)


def test_an_unexpected_error_is_answered_with_the_same_headers_and_without_its_inside(
    client: TestClient, engine: ScriptedEngine
) -> None:
    engine.failure = RuntimeError("secret inside")
    response = client.post("/grade", json=grade_request())
    assert response.status_code == 500
    _assert_guarded(response.headers)
    for inside in ("secret", "RuntimeError", "Traceback", ".py"):
        assert inside not in response.text


def _assert_guarded(headers: Mapping[str, str]) -> None:
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "server" not in headers


def test_no_request_is_redirected(client: TestClient) -> None:
    response = client.get("/healthz/", headers={"host": "localhost"}, follow_redirects=False)
    assert response.status_code == 404


def test_the_page_loads_nothing_and_shows_every_operation(client: TestClient) -> None:
    page = client.get("/docs").text
    assert not re.search(r"<script|\bsrc=|https?://|url\(|@import|<link|\bon\w+=", page)
    document = client.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in page
    assert "final_score" in page
