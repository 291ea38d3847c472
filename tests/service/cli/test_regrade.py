"""`regrade` in this process and against a service."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import Result
from filelock import FileLock
from typer.testing import CliRunner

from service.api.app import create_app
from service.api.backend import Backend
from service.cli.app import app
from service.cli.serve import _listen, _server
from service.errors import InputError, JobStateError, ServiceError
from service.ledger import Ledger
from service.resources import examples_dir
from service.settings import Settings
from tests.service.api.scripted import ScriptedEngine

EXAM = examples_dir() / "exam.jsonl"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("STEADYEVAL_HOME", str(home))
    monkeypatch.setenv("STEADYEVAL_GRAPH", "none")
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: ScriptedEngine())
    return home


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A service on a home of its own."""
    settings = Settings(home=tmp_path / "service", graph="none")
    with _listen("127.0.0.1", 0) as listener:
        backend = Backend(settings, lambda _: ScriptedEngine())
        server = _server(create_app(backend), settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def regrade(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["regrade", *map(str, arguments)])


def ids(path: Path) -> list[str]:
    return [json.loads(line)["answer_id"] for line in path.read_text("utf-8").splitlines()]


def test_a_file_and_then_its_recorded_exam_are_graded_here(home: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "out.jsonl", tmp_path / "again.csv"
    ran = regrade(EXAM, "--out", out)
    assert ran.exit_code == 0, ran.output
    assert ids(out) == ids(EXAM)
    exam_id = json.loads(out.read_text("utf-8").splitlines()[0])["exam_id"]
    ran = regrade(exam_id, "--out", again)
    assert ran.exit_code == 0, ran.output
    with again.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert {row["exam_id"] for row in rows} == {exam_id}
    assert (home / "jobs.sqlite3").exists()


def test_a_service_grades_the_same(home: Path, tmp_path: Path, url: str) -> None:
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    regrade(EXAM, "--out", here)
    ran = regrade(EXAM, "--out", there, "--url", url)
    assert ran.exit_code == 0, ran.output
    scores = [
        [json.loads(line)["final_score"] for line in path.read_text("utf-8").splitlines()]
        for path in (here, there)
    ]
    assert scores[0] == scores[1]
    ledger = Ledger(home / "ledger.sqlite3")
    kept = ledger.last_seq()
    ledger.close()
    assert kept > 0


@pytest.mark.usefixtures("home")
def test_what_the_service_refuses_is_told(tmp_path: Path, url: str) -> None:
    ran = regrade("no-such-exam", "--out", tmp_path / "out.jsonl", "--url", url)
    assert isinstance(ran.exception, ServiceError)
    assert "404" in str(ran.exception)
    assert "no-such-exam" in str(ran.exception)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.usefixtures("home")
def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = regrade(EXAM, "--out", out, "--url", "http://127.0.0.1:9")
    assert isinstance(ran.exception, ServiceError)
    assert isinstance(ran.exception.__cause__, httpx.ConnectError)


def test_beside_a_running_service_nothing_is_graded_here(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    with FileLock(home / "jobs.sqlite3.lock"):
        ran = regrade(EXAM, "--out", tmp_path / "out.jsonl")
    assert isinstance(ran.exception, JobStateError)
    assert "--url" in str(ran.exception)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", ["out.txt", "out"])
def test_the_results_file_says_its_kind(tmp_path: Path, name: str) -> None:
    ran = regrade(EXAM, "--out", tmp_path / name)
    assert isinstance(ran.exception, InputError)
    assert ".csv" in str(ran.exception)
