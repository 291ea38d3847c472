"""Many clients and one model: who waits together runs together, and an exam holds up nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.api.app import create_app
from service.api.backend import Backend
from service.engine.transformers_engine import TransformersEngine
from service.model_store import locate
from service.profile import load_profile
from service.settings import Settings
from tests.service.api.conftest import LOCAL, grade_request, wait_until_ready
from tests.service.engine.test_worker import wait_until
from tests.service.exam_world import QUESTION, answer


class Tiny:
    """The tiny model; its batches are listed, and `before_batch` can hold them up."""

    def __init__(self, settings: Settings) -> None:
        profile = load_profile(settings.profile, settings)
        files = locate(profile, settings)
        self.engine = TransformersEngine(profile, files, device="cpu", batch_size=8)
        self.batches: list[tuple[str, Sequence[Any]]] = []
        self.before_batch: Callable[[], None] = lambda: None
        worker = self.engine._worker
        worker._functions = {
            kind: partial(self._run, str(kind), run) for kind, run in worker._functions.items()
        }

    def _run(
        self, kind: str, run: Callable[[Sequence[Any]], Sequence[Any]], items: Sequence[Any]
    ) -> Sequence[Any]:
        self.batches.append((kind, items))
        self.before_batch()
        return run(items)

    def waiting(self) -> list[str]:
        """The kinds of the calls that wait."""
        return [str(call.kind) for call in self.engine._worker._waiting]

    def batch_of(self, kind: str, text: str) -> int | None:
        """The number of the batch in which a text was filtered or graded."""
        for number, (each, items) in enumerate(self.batches):
            if each == kind and any(text in item.prompt.tail for item in items):
                return number
        return None


@pytest.fixture
def tiny(tiny_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tiny]:
    # A random filter filters nothing.
    monkeypatch.setattr("service.pipeline.check_canary", lambda _: None)
    tiny = Tiny(tiny_settings)
    yield tiny
    tiny.engine.close()


@pytest.fixture
def backend(settings: Settings, tiny: Tiny) -> Backend:
    return Backend(settings, lambda _: tiny.engine)


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_app(backend), base_url=LOCAL) as client:
        wait_until_ready(client)
        yield client


def body(number: int) -> dict[str, Any]:
    request = grade_request(f"Answer number {number}.")
    request["answer"]["answer_id"] = f"a{number}"
    return request


def test_requests_that_wait_together_are_one_batch_of_the_model(
    client: TestClient, tiny: Tiny
) -> None:
    def hold_the_first() -> None:
        if len(tiny.batches) == 1:
            wait_until(lambda: len(tiny.waiting()) == 8)

    tiny.before_batch = hold_the_first
    with ThreadPoolExecutor(9) as pool:
        responses = list(pool.map(lambda n: client.post("/grade", json=body(n)), range(9)))
    assert [response.status_code for response in responses] == [200] * 9
    assert [(kind, len(items)) for kind, items in tiny.batches[:2]] == [("copy", 1), ("copy", 8)]


def test_a_lone_request_is_not_kept_for_others(client: TestClient, tiny: Tiny) -> None:
    assert client.post("/grade", json=body(1)).status_code == 200
    assert [(kind, len(items)) for kind, items in tiny.batches] == [("copy", 1), ("grade", 1)]


def test_an_exam_in_the_background_holds_up_no_request(
    client: TestClient, backend: Backend, tiny: Tiny
) -> None:
    asked = body(1)["answer"]["student_answer"]

    def let_the_request_come() -> None:
        if len(tiny.batches) == 1:
            wait_until(lambda: len(tiny.waiting()) == 1)
        elif tiny.batch_of("copy", asked) == len(tiny.batches) - 2:
            wait_until(lambda: "grade" in tiny.waiting())

    tiny.before_batch = let_the_request_come
    exam = [(QUESTION, answer(f"In the exam, {n}.", f"a{n}", f"s{n}")) for n in range(60)]
    with ThreadPoolExecutor(2) as pool:
        background = pool.submit(backend.pipeline.grade_many, exam)
        wait_until(lambda: len(tiny.batches) == 1)
        request = pool.submit(client.post, "/grade", json=body(1))
        assert request.result().status_code == 200
        assert len(background.result()) == 60
    # It waited for nothing but the batches that were running when it came.
    assert (tiny.batch_of("copy", asked), tiny.batch_of("grade", asked)) == (1, 3)
    assert len(tiny.batches) > 10
