"""Health, readiness, the canary on demand, start and stop."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.api.backend import Backend
from service.engine.base import Engine
from service.errors import EngineError, MissingWeightsError
from service.graph import open_graph
from service.ledger import Ledger
from service.settings import Settings
from tests.service.api.conftest import LOCAL, grade_request, wait_until_ready
from tests.service.api.scripted import ScriptedEngine, borrowing


def test_while_the_model_loads_the_service_lives_but_is_not_ready(
    settings: Settings, engine: ScriptedEngine
) -> None:
    loaded = threading.Event()

    def open_slowly(_: Settings) -> Engine:
        loaded.wait()
        return engine

    with TestClient(create_app(Backend(settings, open_slowly)), base_url=LOCAL) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        for response in (client.get("/readyz"), client.post("/grade", json=grade_request())):
            assert response.status_code == 503
            assert "loading" in response.json()["detail"]
        assert client.put("/exams/e", json={"questions": []}).status_code == 422
        loaded.set()
        wait_until_ready(client)
        assert client.post("/grade", json=grade_request()).status_code == 200


def test_ready_tells_the_profile(client: TestClient) -> None:
    assert client.get("/readyz").json() == {
        "status": "ready",
        "profile": "smollm2-135m",
        "graph": None,
    }


def test_a_filter_that_does_not_filter_grades_nothing(
    settings: Settings, engine: ScriptedEngine
) -> None:
    engine.filters = False
    with TestClient(create_app(Backend(settings, lambda _: engine)), base_url=LOCAL) as client:
        response = _settled(client)
        assert response["type"].endswith("not-ready")
        assert "does not filter" in response["detail"]
        assert client.post("/grade", json=grade_request()).status_code == 503
        assert client.get("/healthz").status_code == 200


def test_the_tiny_random_model_does_not_pass_the_canary(
    settings: Settings, tiny_engine: Engine
) -> None:
    tiny = borrowing(tiny_engine, "grade", "copy", "rewrite", "render", "fingerprint")
    with TestClient(create_app(Backend(settings, lambda _: tiny)), base_url=LOCAL) as client:
        assert "does not filter" in _settled(client)["detail"]


def test_the_canary_on_demand_sees_a_filter_that_broke(
    client: TestClient, engine: ScriptedEngine
) -> None:
    assert client.post("/readyz/check").status_code == 200
    engine.filters = False
    assert client.post("/readyz/check").status_code == 503
    assert client.post("/grade", json=grade_request()).status_code == 503
    engine.filters = True
    assert client.post("/readyz/check").status_code == 200
    assert client.post("/grade", json=grade_request()).status_code == 200


def test_a_model_that_was_missing_is_loaded_on_demand(
    settings: Settings, engine: ScriptedEngine
) -> None:
    there = False

    def open_engine(_: Settings) -> Engine:
        if not there:
            raise MissingWeightsError("run: steadyeval models fetch")
        return engine

    with TestClient(create_app(Backend(settings, open_engine)), base_url=LOCAL) as client:
        assert "steadyeval models fetch" in _settled(client)["detail"]
        there = True
        assert client.post("/readyz/check").status_code == 200


def test_a_model_server_that_comes_up_late_is_found_without_being_asked_for(
    settings: Settings, engine: ScriptedEngine
) -> None:
    attempts = 0

    def open_engine(_: Settings) -> Engine:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise EngineError("no server answers")
        return engine

    with TestClient(create_app(Backend(settings, open_engine)), base_url=LOCAL) as client:
        wait_until_ready(client)
    assert attempts == 2


def test_a_service_that_waits_for_its_model_server_says_so_and_stops(settings: Settings) -> None:
    def open_engine(_: Settings) -> Engine:
        raise EngineError("no server answers")

    with TestClient(create_app(Backend(settings, open_engine)), base_url=LOCAL) as client:
        assert _settled(client)["detail"] == "no server answers"
        response = client.post("/readyz/check")
        assert (response.status_code, response.json()["detail"]) == (503, "no server answers")


@pytest.mark.parametrize(
    ("failure", "status"), [(EngineError("out of memory"), 502), (RuntimeError("bug"), 500)]
)
def test_a_check_that_could_not_be_made_leaves_a_ready_service_ready(
    client: TestClient,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception,
    status: int,
) -> None:
    def fail(*_: object) -> NoReturn:
        raise failure

    with monkeypatch.context() as broken:
        broken.setattr(engine, "copy", fail)
        assert client.post("/readyz/check").status_code == status
    assert client.get("/readyz").status_code == 200
    assert client.post("/grade", json=grade_request()).status_code == 200


def test_an_unexpected_fault_while_loading_is_a_reason_too(settings: Settings) -> None:
    def open_engine(_: Settings) -> Engine:
        raise RuntimeError("libsecret.so is missing")

    with TestClient(create_app(Backend(settings, open_engine)), base_url=LOCAL) as client:
        detail = _settled(client)["detail"]
        assert "could not be loaded" in detail
        assert "libsecret" not in detail


def test_a_graph_that_is_down_is_told_but_does_not_stop_grading(
    settings: Settings, engine: ScriptedEngine
) -> None:
    down = settings.model_copy(update={"graph": "bolt://127.0.0.1:1"})
    with TestClient(create_app(Backend(down, lambda _: engine)), base_url=LOCAL) as client:
        wait_until_ready(client)
        assert client.post("/grade", json=grade_request()).status_code == 200
        graph = client.get("/readyz").json()["graph"]
        while graph["error"] is None:
            time.sleep(0.05)
            graph = client.get("/readyz").json()["graph"]
        assert graph["graph"] == "bolt://127.0.0.1:1"
        assert graph["lag"] > 0


def test_readiness_does_not_hold_up_the_event_loop(
    client: TestClient, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answer = threading.Event(), threading.Event()

    def graph_state() -> None:
        asked.set()
        answer.wait(60)

    monkeypatch.setattr(backend, "graph_state", graph_state)
    with ThreadPoolExecutor() as pool:
        probe = pool.submit(client.get, "/readyz")
        asked.wait()
        assert client.get("/healthz").status_code == 200
        assert not probe.done()
        answer.set()
        assert probe.result().status_code == 200


@pytest.mark.slow
def test_the_embedded_graph_has_what_was_graded_when_the_service_has_stopped(
    settings: Settings, engine: ScriptedEngine
) -> None:
    embedded = settings.model_copy(update={"graph": "embedded"})
    with TestClient(create_app(Backend(embedded, lambda _: engine)), base_url=LOCAL) as client:
        wait_until_ready(client)
        client.post("/grade", json=grade_request())
        while (graph := client.get("/readyz").json()["graph"])["lag"]:
            assert graph["error"] is None
            time.sleep(0.1)
        client.post("/grade", json=grade_request("another text"))
    with open_graph(embedded) as store:
        counted = store.query("MATCH (j:Judgement) RETURN j.stage, count(*) ORDER BY j.stage")
    assert counted.rows == [("baseline", 2), ("filter", 2), ("filtered", 2)]


def test_stopping_releases_the_model_and_closes_the_ledger(
    settings: Settings, engine: ScriptedEngine
) -> None:
    backend = Backend(settings, lambda _: engine)
    with TestClient(create_app(backend), base_url=LOCAL) as client:
        wait_until_ready(client)
        client.post("/grade", json=grade_request())
    assert engine.closed
    with pytest.raises(Exception, match="closed"):
        backend.ledger.last_seq()
    reopened = Ledger(settings.ledger_path)
    assert len(reopened.judgements_of_answer("a1")) == 3
    reopened.close()


def _settled(client: TestClient) -> dict[str, str]:
    """The problem that keeps the service from being ready, once it has stopped loading."""
    while "loading" in (problem := client.get("/readyz").json())["detail"]:
        time.sleep(0.01)
    assert isinstance(problem, dict)
    return problem
