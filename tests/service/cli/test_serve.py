"""`steadyeval serve` as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.cli.serve import serve
from service.errors import SettingsError
from service.ledger import Ledger
from tests.service.api.conftest import grade_request
from tests.service.cli.holdable_service import HOLD

_COMMAND = ("-c", "from service.cli import main; main()")
_HOLDABLE = ("-m", "tests.service.cli.holdable_service")
_ANSWERS = 4
_BATCH = 40


@contextmanager
def _serving(
    home: Path, profile: str, *, command: Sequence[str] = _COMMAND, shutdown_seconds: int = 60
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running service and its address."""
    environment = {
        **os.environ,
        "STEADYEVAL_HOME": str(home),
        "STEADYEVAL_SHUTDOWN_SECONDS": str(shutdown_seconds),
        "OMP_NUM_THREADS": "1",
    }
    options = ["serve", "--port", "0", "--graph", "none", "--profile", profile]
    with subprocess.Popen(
        [sys.executable, *command, *options], env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            address = next(
                found[0] for line in process.stderr if (found := re.search(r"http://[^ ]+", line))
            )
            yield process, address
        finally:
            process.kill()


def _stop(process: subprocess.Popen[str]) -> str:
    """What the service wrote until it had ended."""
    process.send_signal(signal.SIGTERM)
    return _end(process)


def _end(process: subprocess.Popen[str]) -> str:
    """What the service wrote until it had ended in order."""
    _, log = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Application shutdown complete" in log
    assert "Traceback" not in log
    return log


def _reason(address: str) -> str:
    """Why the service is not ready, once it has stopped loading."""
    while "loading" in (reason := httpx.get(f"{address}/readyz", timeout=60).json()["detail"]):
        time.sleep(0.1)
    return str(reason)


def test_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    with _serving(tmp_path, "smollm2-135m") as (process, address):
        assert httpx.get(f"{address}/healthz", timeout=60).json() == {"status": "ok"}
        assert "steadyeval models fetch" in _reason(address)
        assert "steadyeval models fetch" in _stop(process)
    assert (tmp_path / "ledger.sqlite3").exists()


@pytest.mark.slow
def test_a_loaded_model_is_released_at_the_end(tmp_path: Path, tiny_profile_dir: Path) -> None:
    with _serving(tmp_path, str(tiny_profile_dir)) as (process, address):
        assert "does not filter" in _reason(address)
        _stop(process)


@contextmanager
def _ready(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=120) as client:
        _wait_until(lambda: client.get("/readyz").status_code == httpx.codes.OK)
        yield client


def _wait_until(true: Callable[[], bool]) -> None:
    # Not too often, since what the service logs of each request waits in a pipe that is short.
    deadline = time.monotonic() + 300
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _body(number: int) -> dict[str, Any]:
    request = grade_request(f"Answer number {number}.")
    request["answer"]["answer_id"] = f"a{number}"
    return request


def _grade(address: str, number: int) -> httpx.Response:
    return httpx.post(f"{address}/grade", json=_body(number), timeout=120)


def _judgement_ids(response: httpx.Response) -> set[str]:
    assert response.status_code == httpx.codes.OK, response.text
    return {each["judgement_id"] for each in response.json()["judgements"].values()}


def _recorded(home: Path, answer_id: str) -> set[str]:
    """The Judgements of an answer in a ledger without faults."""
    with closing(Ledger(home / "ledger.sqlite3")) as ledger:
        assert [str(fault) for fault in ledger.faults()] == []
        return {each.judgement_id for each in ledger.judgements_of_answer(answer_id)}


def _refuses(address: str) -> bool:
    try:
        httpx.get(f"{address}/healthz", timeout=60)
    except httpx.ConnectError:
        return True
    return False


def _have_in_hand(client: httpx.Client, count: int) -> bool:
    return f"steadyeval_requests_in_hand {count:.1f}" in client.get("/metrics").text


@contextmanager
def _in_flight(home: Path, address: str) -> Iterator[tuple[str, list[Future[httpx.Response]]]]:
    """The id of a batch and some requests, none of which the model has begun to answer."""
    upload = "".join(
        json.dumps({**_body(0)["question"], **_body(number)["answer"]}) + "\n"
        for number in range(100, 100 + _BATCH)
    )
    with _ready(address) as client, ThreadPoolExecutor(_ANSWERS + 1) as pool:
        (home / HOLD).touch()
        kind = {"Content-Type": "application/jsonl"}
        batch_id = client.post("/batches", content=upload, headers=kind).json()["batch_id"]
        # Nor may somebody who only watches keep the service from ending.
        pool.submit(httpx.get, f"{address}/batches/{batch_id}/events", timeout=120)
        asked = [pool.submit(_grade, address, number) for number in range(_ANSWERS)]
        _wait_until(lambda: _have_in_hand(client, _ANSWERS))
        yield batch_id, asked


@pytest.mark.slow
def test_what_is_in_flight_at_the_end_is_answered_and_the_next_start_goes_on(
    tmp_path: Path, tiny_profile_dir: Path
) -> None:
    profile = str(tiny_profile_dir)
    with (
        _serving(tmp_path, profile, command=_HOLDABLE) as (process, address),
        _in_flight(tmp_path, address) as (batch_id, asked),
    ):
        process.send_signal(signal.SIGTERM)
        _wait_until(lambda: _refuses(address))
        (tmp_path / HOLD).unlink()
        answered = [_judgement_ids(response.result()) for response in asked]
        _end(process)
    assert [_recorded(tmp_path, f"a{number}") for number in range(_ANSWERS)] == answered
    with _serving(tmp_path, profile, command=_HOLDABLE) as (process, address):
        with _ready(address) as client:
            assert [_judgement_ids(_grade(address, n)) for n in range(_ANSWERS)] == answered
            batch = f"/batches/{batch_id}"
            _wait_until(lambda: client.get(batch).json()["state"] == "done")
            assert client.get(batch).json()["answers"]["graded"] == _BATCH
        _stop(process)
    assert [_recorded(tmp_path, f"a{number}") for number in range(_ANSWERS)] == answered
    assert {len(_recorded(tmp_path, f"a{number}")) for number in range(100, 100 + _BATCH)} == {3}


@pytest.mark.slow
def test_what_does_not_end_in_time_is_refused_and_leaves_no_record(
    tmp_path: Path, tiny_profile_dir: Path
) -> None:
    with (
        _serving(tmp_path, str(tiny_profile_dir), command=_HOLDABLE, shutdown_seconds=1) as (
            process,
            address,
        ),
        _in_flight(tmp_path, address) as (_, asked),
    ):
        process.send_signal(signal.SIGTERM)
        refused = [response.result() for response in asked]
        (tmp_path / HOLD).unlink()
        _end(process)
    assert [response.status_code for response in refused] == [503] * _ANSWERS
    assert "nothing was recorded" in refused[0].json()["detail"]
    assert [_recorded(tmp_path, f"a{number}") for number in range(_ANSWERS)] == [set()] * _ANSWERS


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_no_address_beyond_this_machine_is_served_before_a_key_is_made(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    with pytest.raises(SettingsError, match="steadyeval keys create"):
        serve(host=host, port=0)


def test_a_port_in_use_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"{port}.*--port"):
            serve(port=port)
    assert not (tmp_path / "ledger.sqlite3").exists()
