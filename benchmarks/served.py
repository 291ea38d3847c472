"""The HTTP API in a process of its own, on a tiny random model, and clients of it."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.subject import open_knowing_engine
from service.exam import ExamItem, Question
from service.settings import Settings

_READY_SECONDS = 120.0
_STOP_SECONDS = 30.0
_PAUSE_SECONDS = 0.05
_HOST = "127.0.0.1"
_JSON = {"content-type": "application/json"}


class Client:
    """One connection to the API, which stays open."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection(_HOST, port, timeout=_READY_SECONDS)

    def ready(self) -> bool:
        """True once the model is loaded; False also where nothing listens yet."""
        try:
            self._connection.request("GET", "/readyz")
            response = self._connection.getresponse()
            response.read()
        except OSError:
            self._connection.close()
            return False
        return response.status == http.HTTPStatus.OK

    def register(self, exam_id: str, questions: Sequence[Question]) -> None:
        """Make questions known, so that answers can name them."""
        body = {"questions": [_question(question) for question in questions]}
        self._send("PUT", f"/exams/{exam_id}", json.dumps(body).encode())

    def grade(self, body: bytes) -> float:
        """Send a request of `grade_body`; how many milliseconds it took."""
        began = time.perf_counter()
        self._send("POST", "/grade", body)
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _send(self, method: str, path: str, body: bytes) -> None:
        self._connection.request(method, path, body, _JSON)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {response.status} {content.decode()}")


def grade_body(item: ExamItem) -> bytes:
    """A request that grades an answer to a registered question."""
    body = {
        "exam_id": item.question.exam_id,
        "question_id": item.question.question_id,
        "answer": {
            "answer_id": item.answer.answer_id,
            "student_id": item.answer.student_id,
            "student_answer": item.answer.text,
        },
    }
    return json.dumps(body).encode()


@contextmanager
def served(settings: Settings) -> Iterator[int]:
    """The port on this machine at which the API answers, with its model loaded."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=_serve, args=(settings, theirs))
    server.start()
    try:
        port = _port(ours)
        _wait_until_ready(port)
        yield port
    finally:
        server.terminate()
        server.join(_STOP_SECONDS)
        if server.exitcode is None:
            server.kill()
            server.join()


def _serve(settings: Settings, told: Connection) -> None:
    import uvicorn

    from service.api.app import create_app
    from service.api.backend import Backend

    with socket.create_server((_HOST, 0)) as listener:
        told.send(listener.getsockname()[1])
        app = create_app(Backend(settings, open_knowing_engine))
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])


def _port(told: Connection) -> int:
    if not told.poll(_READY_SECONDS):
        raise RuntimeError(f"the API did not start within {_READY_SECONDS:g} s")
    return int(told.recv())


def _wait_until_ready(port: int) -> None:
    client = Client(port)
    deadline = time.monotonic() + _READY_SECONDS
    while not client.ready():
        if time.monotonic() > deadline:
            raise RuntimeError(f"the API was not ready within {_READY_SECONDS:g} s")
        time.sleep(_PAUSE_SECONDS)
    client.close()


def _question(question: Question) -> dict[str, Any]:
    return {
        "dataset": question.exam_id,
        "domain": question.domain,
        "question_id": question.question_id,
        "question": question.text,
        "Gold_answer": question.gold_answer,
        "rubric": question.rubric,
        "Gold_type": question.gold_type,
        "Gold_points": [[point.text, point.weight] for point in question.gold_points],
        "Banned_misconceptions": list(question.banned_misconceptions),
    }
