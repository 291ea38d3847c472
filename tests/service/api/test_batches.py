"""Batches over HTTP."""

from __future__ import annotations

import csv
import io
import json
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.access import KeyStore, Role
from service.api.app import create_app
from service.api.backend import Backend
from service.api.result_files import COLUMNS, harmless
from service.resources import examples_dir
from service.settings import Settings
from tests.service.api.conftest import LOCAL, grade_request, wait_until_ready
from tests.service.api.scripted import ScriptedEngine

EXAM = (examples_dir() / "exam.jsonl").read_bytes()
JSONL = {"Content-Type": "application/jsonl"}


@pytest.fixture
def held(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The engine grades nothing until this is set."""
    released = threading.Event()
    grade = engine.grade

    def wait_and_grade(requests: Any) -> Any:
        released.wait()
        return grade(requests)

    monkeypatch.setattr(engine, "grade", wait_and_grade)
    yield released
    released.set()


def record(number: int, text: str = "It names the point.", **fields: Any) -> dict[str, Any]:
    return {
        **grade_request()["question"],
        "answer_id": f"a{number}",
        "student_id": f"s{number}",
        "student_answer": text,
        **fields,
    }


def lines(*records: dict[str, Any]) -> bytes:
    return "".join(f"{json.dumps(each)}\n" for each in records).encode()


def create(client: TestClient, body: bytes = EXAM) -> str:
    response = client.post("/batches", content=body, headers=JSONL)
    assert response.status_code == 202, response.text
    return str(response.json()["batch_id"])


def wait_for(client: TestClient, batch_id: str, state: str = "done") -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while (status := client.get(f"/batches/{batch_id}").json())["state"] != state:
        assert time.monotonic() < deadline, status
        time.sleep(0.02)
    assert isinstance(status, dict)
    return status


def fetch(client: TestClient, batch_id: str) -> list[dict[str, Any]]:
    response = client.get(f"/batches/{batch_id}/results")
    assert response.status_code == 200, response.text
    return [json.loads(line) for line in response.text.splitlines()]


def test_an_exam_file_is_graded_and_its_results_are_those_of_the_ledger(
    client: TestClient,
) -> None:
    batch_id = create(client)
    status = wait_for(client, batch_id)
    sent = [json.loads(line) for line in EXAM.splitlines()]
    assert status["answers"] == {
        "total": len(sent),
        "graded": len(sent),
        "failed": 0,
        "waiting": 0,
    }
    found = fetch(client, batch_id)
    names = ("answer_id", "student_id", "attack_type")
    assert [[line[name] for name in names] for line in found] == [
        [line[name] for name in names] for line in sent
    ]
    for line in found:
        filtered = line["judgements"]["filtered"]
        recorded = client.get(f"/judgements/{filtered['judgement_id']}").json()
        assert recorded["predicted_score"] == line["final_score"]
        assert recorded["based_on"] == line["judgements"]["filter"]["judgement_id"]


def test_csv_goes_in_and_comes_out(client: TestClient) -> None:
    body = (examples_dir() / "exam.csv").read_bytes()
    response = client.post("/batches", content=body, headers={"Content-Type": "text/csv"})
    batch_id = response.json()["batch_id"]
    total = wait_for(client, batch_id)["answers"]["total"]
    response = client.get(f"/batches/{batch_id}/results?format=csv")
    assert response.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.text, newline="")))
    assert len(rows) == total > 0
    assert tuple(rows[0]) == COLUMNS
    assert [float(row["final_score"]) for row in rows] == [
        line["final_score"] for line in fetch(client, batch_id)
    ]


def test_no_cell_of_the_csv_is_a_formula(client: TestClient) -> None:
    ids = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "plain"]
    body = lines(*(record(n, answer_id=name, student_id=name) for n, name in enumerate(ids)))
    batch_id = create(client, body)
    wait_for(client, batch_id)
    text = client.get(f"/batches/{batch_id}/results?format=csv").text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["student_id"] for row in rows] == [*(f"'{name}" for name in ids[:-1]), "plain"]
    assert [line["student_id"] for line in fetch(client, batch_id)] == ids


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_cell_that_looks_like_a_formula_is_text(start: str) -> None:
    assert harmless(f"{start}cmd") == f"'{start}cmd"
    assert harmless(f"cmd{start}") == f"cmd{start}"
    assert harmless(-1.5) == -1.5


def test_one_bad_answer_never_stops_the_rest(client: TestClient) -> None:
    assert client.post("/grade", json=grade_request()).status_code == 200
    # Its id is known as another student's.
    body = lines(record(1, student_id="thief"), record(2), record(3))
    batch_id = create(client, body)
    status = wait_for(client, batch_id)
    assert (status["answers"]["graded"], status["failures"]) == (2, {"invalid": 1})
    bad, *good = fetch(client, batch_id)
    assert (bad["status"], bad["reason"]) == ("failed", "invalid")
    assert "thief" in bad["detail"]
    assert [line["status"] for line in good] == ["graded", "graded"]


def test_a_recorded_exam_is_graded_again(client: TestClient) -> None:
    first = client.post("/grade", json=grade_request("The first text.")).json()
    client.post("/grade", json=grade_request("The second text."))
    exam_id = grade_request()["question"]["dataset"]
    response = client.post("/batches", json={"exam_id": exam_id})
    assert response.status_code == 202, response.text
    wait_for(client, response.json()["batch_id"])
    [line] = fetch(client, response.json()["batch_id"])
    assert line["answer_id"] == "a1"
    assert line["cleaned_answer"] == "The second text."
    assert line["judgements"] != first["judgements"]


def test_an_exam_without_answers_is_refused(client: TestClient) -> None:
    assert client.post("/batches", json={"exam_id": "none"}).status_code == 404
    question = grade_request(dataset="new")["question"]
    client.put("/exams/new", json={"questions": [question]})
    response = client.post("/batches", json={"exam_id": "new"})
    assert response.status_code == 422
    assert "no answer" in response.json()["detail"]


@pytest.mark.parametrize(
    ("body", "kind", "status", "told"),
    [
        (b"", "application/jsonl", 400, "empty"),
        (b"\n", "application/jsonl", 422, "no answers"),
        (b'{"answer_id": 1}\n{', "application/jsonl", 422, "line 2"),
        (b"\xff", "text/csv", 422, "UTF-8"),
        (b"{", "application/json", 400, "character 1"),
        (b'{"exam_id": "a", "exam_id": "b"}', "application/json", 400, "twice"),
        (b'{"exam": "a"}', "application/json", 422, "nothing was recorded"),
        (b"[]", "application/json", 422, "nothing was recorded"),
        (b"x", "text/plain", 415, "application/jsonl"),
        (b"x", "", 415, "text/csv"),
    ],
)
def test_what_cannot_be_read_is_refused(
    client: TestClient, body: bytes, kind: str, status: int, told: str
) -> None:
    response = client.post("/batches", content=body, headers={"Content-Type": kind})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert told in response.json()["detail"]


def test_a_batch_may_be_longer_than_another_body_but_not_without_end(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path, graph="none", max_request_bytes=1024, max_batch_bytes=10 * len(EXAM)
    )
    backend = Backend(settings, lambda _: ScriptedEngine())
    with TestClient(create_app(backend), base_url=LOCAL) as client:
        wait_until_ready(client)
        create(client)
        body = EXAM * 11
        response = client.post("/batches", content=body, headers=JSONL)
        assert response.status_code == 413
        assert client.post("/grade", content=EXAM, headers=JSONL).status_code == 413


def test_no_more_batches_wait_than_may(
    tmp_path: Path, engine: ScriptedEngine, held: threading.Event
) -> None:
    settings = Settings(home=tmp_path, graph="none", max_batches=1)
    with TestClient(create_app(Backend(settings, lambda _: engine)), base_url=LOCAL) as client:
        batch_id = create(client, lines(record(1)))
        assert create(client, lines(record(1))) == batch_id
        response = client.post("/batches", content=lines(record(2)), headers=JSONL)
        assert response.status_code == 429
        assert int(response.headers["Retry-After"]) > 0
        held.set()


def test_results_wait_for_the_end(client: TestClient, held: threading.Event) -> None:
    batch_id = create(client)
    response = client.get(f"/batches/{batch_id}/results")
    assert response.status_code == 409
    assert client.post(f"/batches/{batch_id}/resume").status_code == 200
    held.set()
    wait_for(client, batch_id)
    assert client.post(f"/batches/{batch_id}/cancel").status_code == 409
    assert client.post(f"/batches/{batch_id}/resume").status_code == 409


def test_a_cancelled_batch_stops_and_goes_on(client: TestClient, held: threading.Event) -> None:
    total = 40
    batch_id = create(client, lines(*map(record, range(total))))
    wait_for(client, batch_id, "running")
    status = client.post(f"/batches/{batch_id}/cancel").json()
    assert (status["state"], status["answers"]["waiting"]) == ("cancelled", total)
    held.set()
    kinds = {line["status"] for line in fetch(client, batch_id)}
    assert "not_graded" in kinds
    client.post(f"/batches/{batch_id}/resume")
    assert wait_for(client, batch_id)["answers"]["graded"] == total


def test_progress_is_streamed_until_the_end(client: TestClient, held: threading.Event) -> None:
    batch_id = create(client)
    threading.Timer(0.2, held.set).start()
    events = []
    with client.stream("GET", f"/batches/{batch_id}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for line in response.iter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line.removeprefix("data: ")))
    assert events[0]["answers"]["graded"] == 0
    assert events[-1]["state"] == "done"
    assert events[-1] == client.get(f"/batches/{batch_id}").json()


@pytest.mark.parametrize("path", ["", "/events", "/results"])
def test_an_unknown_batch_is_not_found(client: TestClient, path: str) -> None:
    response = client.get(f"/batches/none{path}")
    assert response.status_code == 404
    assert "none" in response.json()["detail"]


@pytest.mark.parametrize("verb", ["cancel", "resume"])
def test_an_unknown_batch_is_neither_cancelled_nor_resumed(client: TestClient, verb: str) -> None:
    assert client.post(f"/batches/none/{verb}").status_code == 404


def test_a_batch_goes_on_after_a_restart(
    settings: Settings, engine: ScriptedEngine, held: threading.Event
) -> None:
    with TestClient(create_app(Backend(settings, lambda _: engine)), base_url=LOCAL) as client:
        wait_until_ready(client)
        batch_id = create(client)
        wait_for(client, batch_id, "running")
        held.set()
    with TestClient(
        create_app(Backend(settings, lambda _: ScriptedEngine())), base_url=LOCAL
    ) as client:
        status = wait_for(client, batch_id)
        assert status["answers"]["graded"] == status["answers"]["total"]


def test_a_key_sees_the_batches_of_its_exams_and_one_that_only_grades_its_own(
    settings: Settings,
) -> None:
    def key(*roles: Role, exams: frozenset[str] | None = None) -> dict[str, str]:
        with KeyStore(settings.keys_path) as keys:
            issued = keys.create("k", frozenset(roles), exams=exams, lifetime=timedelta(days=1))
        return {"Authorization": f"Bearer {issued.token}"}

    exam_id = grade_request()["question"]["dataset"]
    owner, grader = key(Role.GRADE), key(Role.GRADE)
    reader, stranger = key(Role.READ), key(Role.GRADE, Role.READ, exams=frozenset({"other"}))
    with TestClient(
        create_app(Backend(settings, lambda _: ScriptedEngine())), base_url=LOCAL
    ) as client:
        body = lines(record(1))
        made = client.post("/batches", content=body, headers={**JSONL, **owner})
        batch_id = made.json()["batch_id"]
        seen = [client.get(f"/batches/{batch_id}", headers=who) for who in (owner, reader)]
        assert [response.status_code for response in seen] == [200, 200]
        unseen = [client.get(f"/batches/{batch_id}", headers=who) for who in (grader, stranger)]
        assert [response.status_code for response in unseen] == [404, 404]
        refused = [
            client.post(f"/batches/{batch_id}/cancel", headers=reader),
            client.post("/batches", content=body, headers={**JSONL, **stranger}),
            client.post("/batches", json={"exam_id": exam_id}, headers=stranger),
        ]
        assert [response.status_code for response in refused] == [403, 403, 403]
        assert client.get(f"/batches/{batch_id}").status_code == 401
