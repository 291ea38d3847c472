"""`steadyeval serve` as a process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from service.cli.serve import serve
from service.errors import SettingsError

_COMMAND = [sys.executable, "-c", "from service.cli import main; main()", "serve"]


@contextmanager
def _serving(home: Path, profile: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running service and its address."""
    environment = {**os.environ, "STEADYEVAL_HOME": str(home), "OMP_NUM_THREADS": "1"}
    options = ["--port", "0", "--graph", "none", "--profile", profile]
    with subprocess.Popen(
        [*_COMMAND, *options], env=environment, stderr=subprocess.PIPE, text=True
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
    _, log = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGTERM
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
