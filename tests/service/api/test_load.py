"""More requests than places, deadlines, clients that hang up, a model that fails, the end."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message

from service.api.admission import Admission
from service.api.app import create_app
from service.api.backend import Backend
from service.errors import EngineError, LedgerError, NotReadyError
from service.ledger import Ledger
from service.patience import wait_for
from service.settings import Settings
from tests.service.api.conftest import LOCAL, grade_request, wait_until_ready
from tests.service.api.scripted import ScriptedEngine
from tests.service.api.test_concurrency import Tiny
from tests.service.engine.test_worker import wait_until


@pytest.fixture
def tiny(tiny_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tiny]:
    # A random filter filters nothing.
    monkeypatch.setattr("service.pipeline.check_canary", lambda _: None)
    tiny = Tiny(tiny_settings)
    yield tiny
    tiny.engine.close()


class Held:
    """Holds up the model until it is let go."""

    def __init__(self, tiny: Tiny) -> None:
        self._go_on = threading.Event()
        self._tiny = tiny
        tiny.before_batch = self._wait

    def _wait(self) -> None:
        assert self._go_on.wait(60)

    def until_running(self) -> None:
        wait_until(lambda: bool(self._tiny.batches))

    def let_go(self) -> None:
        self._go_on.set()


def _client(settings: Settings, tiny: Tiny, **changed: Any) -> TestClient:
    backend = Backend(settings.model_copy(update=changed), lambda _: tiny.engine)
    return TestClient(create_app(backend), base_url=LOCAL, raise_server_exceptions=False)


def body(number: int) -> dict[str, Any]:
    request = grade_request(f"Answer number {number}.")
    request["answer"]["answer_id"] = f"a{number}"
    return request


def test_a_request_too_many_is_told_to_come_back(settings: Settings, tiny: Tiny) -> None:
    held = Held(tiny)
    with _client(settings, tiny, max_requests=2) as client, ThreadPoolExecutor(2) as pool:
        wait_until_ready(client)
        admitted = [pool.submit(client.post, "/grade", json=body(n)) for n in range(2)]
        admission = client.app.state.backend.admission  # type: ignore[attr-defined]
        wait_until(lambda: len(admission._admitted) == 2)
        refused = client.post("/filter", json=body(2))
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["type"] == "urn:steadyeval:problem:overloaded"
        assert int(refused.headers["retry-after"]) > 0
        # Whoever only reads is not kept out.
        assert client.get("/healthz").status_code == 200
        held.let_go()
        assert [response.result().status_code for response in admitted] == [200, 200]
        assert client.post("/grade", json=body(2)).status_code == 200


def test_a_request_that_takes_too_long_ends_and_gives_its_place_free(
    settings: Settings, tiny: Tiny
) -> None:
    held = Held(tiny)
    with _client(settings, tiny, max_requests=1, request_seconds=0.2) as client:
        wait_until_ready(client)
        late = client.post("/grade", json=body(1))
        assert (late.status_code, late.json()["type"]) == (504, "urn:steadyeval:problem:deadline")
        ledger: Ledger = client.app.state.backend.ledger  # type: ignore[attr-defined]
        assert ledger.judgements_of_answer("a1") == []
        # The place is free, though the model has not come back: this one fails at its own deadline.
        assert client.post("/grade", json=body(2)).status_code == 504
        held.let_go()


def test_what_nobody_waits_for_any_more_stops_and_is_not_begun(
    settings: Settings, tiny: Tiny
) -> None:
    held = Held(tiny)
    with _client(settings, tiny) as client, ThreadPoolExecutor(2) as pool:
        wait_until_ready(client)
        running = pool.submit(client.post, "/filter", json=body(1))
        held.until_running()
        waiting = pool.submit(client.post, "/filter", json=body(2))
        wait_until(lambda: tiny.waiting() == ["copy"])
        client.app.state.backend.admission.give_up()  # type: ignore[attr-defined]
        assert [asked.result().status_code for asked in (running, waiting)] == [503, 503]
        held.let_go()
        worker = tiny.engine._worker
        wait_until(lambda: not worker._unfinished)
        # Whoever asks for the same again gets a result of its own.
        assert client.post("/filter", json=body(1)).status_code == 200
        assert [len(items) for _, items in tiny.batches] == [1, 1]
        assert tiny.batch_of("copy", "Answer number 2.") is None


async def _listening() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


def test_a_client_that_hangs_up_gives_its_place_free(settings: Settings, tiny: Tiny) -> None:
    """Through the application's own door, as the test client never hangs up."""
    held = Held(tiny)
    app = create_app(
        Backend(settings.model_copy(update={"max_requests": 1}), lambda _: tiny.engine)
    )
    sent: list[Message] = []

    async def break_off() -> None:
        messages: Iterator[Message] = iter(
            [{"type": "http.request", "body": json.dumps(body(1)).encode()}]
        )

        async def receive() -> Message:
            if (message := next(messages, None)) is not None:
                return message
            await asyncio.to_thread(held.until_running)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await app(_scope("/grade"), receive, send)

    with TestClient(app, base_url=LOCAL) as client:
        wait_until_ready(client)
        asyncio.run(break_off())
        assert sent[0]["status"] == 499
        held.let_go()
        assert client.post("/grade", json=body(2)).status_code == 200
        backend: Backend = app.state.backend
        assert backend.ledger.judgements_of_answer("a1") == []


def _scope(path: str) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
    }


@pytest.mark.parametrize("failure", [MemoryError(), RuntimeError("CUDA"), BaseException("panic")])
def test_a_model_that_fails_once_fails_one_request(
    settings: Settings, tiny: Tiny, failure: BaseException
) -> None:
    def fail() -> None:
        raise failure

    with _client(settings, tiny) as client:
        wait_until_ready(client)
        tiny.before_batch = fail
        failed = client.post("/grade", json=body(1))
        assert (failed.status_code, failed.json()["type"]) == (
            502,
            "urn:steadyeval:problem:engine",
        )
        tiny.before_batch = lambda: None
        assert client.post("/grade", json=body(1)).status_code == 200
        assert client.get("/readyz").status_code == 200


def test_a_model_that_goes_on_failing_makes_the_service_unready_until_it_recovers(
    client: TestClient, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise EngineError("the device is lost")

    with monkeypatch.context() as broken:
        broken.setattr(engine, "copy", fail)
        assert client.post("/grade", json=grade_request()).status_code == 502
        wait_until(lambda: client.get("/readyz").status_code == 503)
        assert "the device is lost" in client.get("/readyz").json()["detail"]
        assert client.post("/grade", json=grade_request()).status_code == 503
    wait_until_ready(client)
    assert client.post("/grade", json=grade_request()).status_code == 200


def test_a_ledger_that_cannot_be_written_makes_the_service_unready(
    client: TestClient, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise LedgerError("the disk is full")

    backend._ledger_checked_at = None
    with monkeypatch.context() as broken:
        broken.setattr(backend.ledger, "check_writable", full)
        unready = client.get("/readyz")
        assert (unready.status_code, unready.json()["detail"]) == (503, "the disk is full")
    assert client.get("/readyz").status_code == 200


def test_the_end_gives_up_what_takes_too_long_and_loses_no_acknowledged_grade(
    settings: Settings, tiny: Tiny
) -> None:
    with _client(settings, tiny, shutdown_seconds=0.1) as client, ThreadPoolExecutor(1) as pool:
        wait_until_ready(client)
        assert client.post("/grade", json=body(1)).status_code == 200
        tiny.batches.clear()
        held = Held(tiny)
        waiting = pool.submit(client.post, "/grade", json=body(2))
        held.until_running()
        backend: Backend = client.app.state.backend  # type: ignore[attr-defined]
        backend.say_stopping()
        assert client.get("/readyz").status_code == 503
        assert client.post("/grade", json=body(3)).status_code == 503
        given_up = waiting.result()
        assert given_up.status_code == 503
        assert "stopping" in given_up.json()["detail"]
        held.let_go()
    ledger = Ledger(settings.ledger_path)
    assert len(ledger.judgements_of_answer("a1")) == 3
    assert ledger.judgements_of_answer("a2") == []
    ledger.close()


def test_what_ends_in_time_is_answered_although_the_service_stops(
    settings: Settings, tiny: Tiny
) -> None:
    with _client(settings, tiny) as client, ThreadPoolExecutor(1) as pool:
        wait_until_ready(client)
        held = Held(tiny)
        waiting = pool.submit(client.post, "/grade", json=body(1))
        held.until_running()
        client.app.state.backend.say_stopping()  # type: ignore[attr-defined]
        held.let_go()
        assert waiting.result().status_code == 200
    ledger = Ledger(settings.ledger_path)
    assert len(ledger.judgements_of_answer("a1")) == 3
    ledger.close()


async def _gives_up() -> str:
    admission = Admission(1, 60)
    never: Future[None] = Future()
    running = threading.Event()

    def work() -> None:
        running.set()
        wait_for(never)

    asked = asyncio.create_task(admission.run(work, _listening))
    await asyncio.to_thread(running.wait)
    admission.give_up()
    try:
        await asked
    except NotReadyError as error:
        return str(error)
    raise AssertionError


def test_given_up_work_tells_why() -> None:
    assert "stopping" in asyncio.run(_gives_up())
