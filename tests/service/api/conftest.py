from __future__ import annotations

import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.api import examples
from service.api.app import create_app
from service.api.backend import Backend
from service.settings import Settings
from tests.service.api.scripted import ScriptedEngine

LOCAL = "http://127.0.0.1"
"""Without keys, only this machine is served."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, graph="none")


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def backend(settings: Settings, engine: ScriptedEngine) -> Backend:
    return Backend(settings, lambda _: engine)


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_app(backend), base_url=LOCAL, raise_server_exceptions=False) as client:
        wait_until_ready(client)
        yield client


def wait_until_ready(client: TestClient) -> None:
    deadline = time.monotonic() + 60
    while (response := client.get("/readyz")).status_code != 200:
        assert time.monotonic() < deadline, response.text
        time.sleep(0.01)


def grade_request(text: str = "It names the point.", **question: Any) -> dict[str, Any]:
    # A copy to the ground, since some tests put texts into its lists.
    return {
        "question": {**deepcopy(examples.GRADE_REQUEST["question"]), **question},
        "answer": {"answer_id": "a1", "student_id": "s1", "student_answer": text},
    }
