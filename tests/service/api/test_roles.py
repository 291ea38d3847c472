"""Who may do what: every route with every role, and what a key of one exam reaches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.testclient import TestClient

from service.access import Role
from service.api import examples
from service.api.app import create_app
from service.api.backend import Backend
from service.api.json_body import JsonRoute
from service.settings import Settings
from tests.service.api.conftest import LOCAL, grade_request, wait_until_ready
from tests.service.api.keyed import key_of
from tests.service.api.scripted import ScriptedEngine

EXAM = str(examples.GRADE_REQUEST["question"]["dataset"])
"""The exam of the example questions."""
_SECURITY = Path(__file__).parents[3] / "docs" / "security.md"


class Call(NamedTuple):
    method: str
    path: str


_G, _R, _A = Role.GRADE, Role.READ, Role.AUDIT

ALLOWED: dict[Call, set[Role]] = {
    Call("POST", "/grade"): {_G},
    Call("POST", "/filter"): {_G},
    Call("PUT", "/exams/{exam_id:path}"): {_G},
    Call("GET", "/exams/{exam_id:path}"): {_G, _R, _A},
    Call("GET", "/judgements/{judgement_id}"): {_R, _A},
    Call("GET", "/answers/{answer_id:path}/judgements"): {_R, _A},
    Call("POST", "/batches"): {_G},
    Call("GET", "/batches/{batch_id}"): {_G, _R, _A},
    Call("GET", "/batches/{batch_id}/events"): {_G, _R, _A},
    Call("GET", "/batches/{batch_id}/results"): {_G, _R, _A},
    Call("POST", "/batches/{batch_id}/cancel"): {_G},
    Call("POST", "/batches/{batch_id}/resume"): {_G},
    Call("POST", "/readyz/check"): {_A},
    Call("GET", "/metrics"): {_A},
    Call("GET", "/metrics"): {_A},
    Call("GET", "/docs"): {_G, _R, _A},
    Call("GET", "/openapi.json"): {_G, _R, _A},
}
"""The roles that are enough for each route; `admin` has them all."""
OPEN = {Call("GET", "/healthz"), Call("GET", "/readyz")}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    settings = Settings(home=tmp_path_factory.mktemp("home"), graph="none")
    backend = Backend(settings, lambda _: ScriptedEngine())
    with TestClient(create_app(backend), base_url=LOCAL) as client:
        wait_until_ready(client)
        yield World(client, backend, {role: key_of(backend, role) for role in Role})


class World(NamedTuple):
    client: TestClient
    backend: Backend
    keys: dict[Role, dict[str, str]]

    def status(self, call: Call, headers: dict[str, str]) -> int:
        path = re.sub(r"\{\w+(:path)?\}", "none", call.path)
        return self.client.request(call.method, path, json={}, headers=headers).status_code


def _calls(client: TestClient) -> set[Call]:
    return {
        Call(method, str(context.path))
        for context in _routes(client)
        for method in context.methods or {"?"}
        if method != "HEAD"
    }


def _routes(client: TestClient) -> list[RouteContext]:
    assert isinstance(client.app, FastAPI)
    return list(iter_route_contexts(client.app.routes))


def test_every_route_stands_in_the_table(world: World) -> None:
    assert _calls(world.client) == ALLOWED.keys() | OPEN


@pytest.mark.parametrize("call", ALLOWED, ids=lambda call: "".join(call))
@pytest.mark.parametrize("role", Role)
def test_a_role_opens_its_routes_and_no_other(world: World, call: Call, role: Role) -> None:
    status = world.status(call, world.keys[role])
    if role in {Role.ADMIN, *ALLOWED[call]}:
        # The made-up ids and the empty body are refused, but not the caller.
        assert status not in (401, 403, 405, 500)
    else:
        assert status == 403


@pytest.mark.parametrize("call", ALLOWED, ids=lambda call: "".join(call))
def test_without_a_valid_key_nothing_opens(world: World, call: Call) -> None:
    token = world.keys[Role.ADMIN]["Authorization"]
    for headers in (
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": token[:-1]},
        {"Authorization": token.replace("Bearer", "Basic")},
        {"Authorization": f"Bearer ste_{'0' * 12}_{'0' * 64}"},
        {"Authorization": f"Bearer {'x' * 5000}"},
    ):
        assert world.status(call, headers) == 401


@pytest.mark.parametrize("call", OPEN, ids=lambda call: "".join(call))
def test_a_probe_needs_no_key_but_takes_no_wrong_one(world: World, call: Call) -> None:
    assert world.status(call, {}) == 200
    assert world.status(call, world.keys[Role.READ]) == 200
    assert world.status(call, {"Authorization": "Bearer ste_wrong"}) == 401


def test_a_path_that_is_none_is_not_told_to_strangers(world: World) -> None:
    for path in ("/none", "/healthz/", "//healthz", "/docs/", "/readyz/check/", "/HEALTHZ"):
        assert world.status(Call("GET", path), {}) == 401
        assert world.status(Call("GET", path), world.keys[Role.ADMIN]) == 404


def test_every_route_reads_its_body_strictly(world: World) -> None:
    lax = {
        context.path
        for context in _routes(world.client)
        if not isinstance(context.original_route, JsonRoute)
    }
    assert lax == {"/docs", "/metrics", "/openapi.json"}


def test_the_table_in_the_documentation_is_this_one() -> None:
    rows = re.findall(r"^\| `([A-Z]+) (\S+)` \|(.*)\|$", _SECURITY.read_text(), re.M)
    documented = {
        Call(method, path): {
            role for role, cell in zip(Role, cells.split("|"), strict=True) if cell.strip()
        }
        for method, path, cells in rows
    }
    assert documented == {
        Call(call.method, call.path.replace(":path", "")): roles | {Role.ADMIN}
        for call, roles in ALLOWED.items()
    }


def test_openapi_says_which_routes_need_a_key_and_which_roles(world: World) -> None:
    document = world.client.get("/openapi.json", headers=world.keys[Role.READ]).json()
    assert document["components"]["securitySchemes"]["ApiKey"]["scheme"] == "bearer"
    documented = {
        Call(method.upper(), path): operation.get("security")
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    for call, roles in ALLOWED.items():
        shown = Call(call.method, call.path.replace(":path", ""))
        if shown in documented:
            [requirement] = documented[shown] or [{}]
            assert {Role(role) for role in requirement["ApiKey"]} == roles
    assert all(documented[call] is None for call in OPEN)


# --- what a key of one exam reaches ---


def _graded(world: World, exam: str, answer: str) -> tuple[int, dict[str, Any]]:
    body = grade_request(dataset=exam)
    body["answer"]["answer_id"] = answer
    response = world.client.post("/grade", json=body, headers=world.keys[Role.GRADE])
    return response.status_code, response.json()


@pytest.fixture(scope="module")
def scoped(world: World) -> dict[str, str]:
    """A key that may everything, in one exam."""
    return key_of(world.backend, Role.ADMIN, exams=frozenset({EXAM}))


@pytest.mark.parametrize("path", ["/grade", "/filter"])
def test_no_answer_of_another_exam_is_graded(
    world: World, scoped: dict[str, str], path: str
) -> None:
    client = world.client
    assert client.post(path, json=grade_request(), headers=scoped).status_code == 200
    for other in ("other", EXAM.upper(), f"{EXAM} "):
        body = grade_request(dataset=other)
        assert client.post(path, json=body, headers=scoped).status_code == 403
    # Not even whether it is registered is told.
    by_ids = {"exam_id": "other", "question_id": "q", "answer": grade_request()["answer"]}
    assert client.post(path, json=by_ids, headers=scoped).status_code == 403


def test_no_other_exam_is_registered_or_seen(world: World, scoped: dict[str, str]) -> None:
    question = examples.GRADE_REQUEST["question"]
    mine = {"questions": [question]}
    other = {"questions": [{**question, "dataset": "other"}]}
    client = world.client
    assert client.put(f"/exams/{EXAM}", json=mine, headers=scoped).status_code == 200
    assert client.get(f"/exams/{EXAM}", headers=scoped).status_code == 200
    for path in ("/exams/other", f"/exams/{EXAM}/../other", f"/exams/{EXAM}%2F..%2Fother"):
        assert client.put(path, json=other, headers=scoped).status_code == 403
        assert client.get(path, headers=scoped).status_code == 403


def test_no_judgement_of_another_exam_is_read(world: World, scoped: dict[str, str]) -> None:
    client = world.client
    _, mine = _graded(world, EXAM, "shared-id")
    _, other = _graded(world, "other", "shared-id")
    mine_id, other_id = (
        graded["judgements"]["filtered"]["judgement_id"] for graded in (mine, other)
    )
    assert client.get(f"/judgements/{mine_id}", headers=scoped).status_code == 200
    hidden = client.get(f"/judgements/{other_id}", headers=scoped)
    unknown = client.get(f"/judgements/{'0' * len(other_id)}", headers=scoped)
    assert hidden.status_code == unknown.status_code == 404
    assert hidden.text.replace(other_id, "") == unknown.text.replace("0" * len(other_id), "")

    answers = "/answers/shared-id/judgements"
    listed = client.get(answers, headers=scoped).json()["judgements"]
    assert {judgement["exam_id"] for judgement in listed} == {EXAM}
    both = client.get(answers, headers=world.keys[Role.READ]).json()["judgements"]
    assert {judgement["exam_id"] for judgement in both} == {EXAM, "other"}
    refused = client.get(answers, params={"exam_id": "other"}, headers=scoped)
    assert refused.status_code == 403


def test_an_answer_of_another_exam_alone_is_as_one_that_is_not_there(
    world: World, scoped: dict[str, str]
) -> None:
    _graded(world, "other", "only-there")
    response = world.client.get("/answers/only-there/judgements", headers=scoped)
    assert response.status_code == 404
