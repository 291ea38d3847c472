"""The service as a process of its own on the tiny model and the embedded graph, to be killed."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx

from benchmarks.subject import open_knowing_engine
from benchmarks.tiny import write_tiny_profile
from service.settings import Settings

_PATIENCE_S = 300.0

# The model's libraries are loaded once, in a process that every server is forked from.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, "benchmarks.tiny", "service.api.app", "transformers"])


def soak_settings(home: Path) -> Settings:
    """Settings for a service in `home`, whose model is written there."""
    profile = home / "tiny-random"
    if not profile.exists():
        write_tiny_profile(profile)
    return Settings(home=home, profile=str(profile), device="cpu", graph="embedded")


class Server:
    """One service after another in the same home."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.address = ""
        self._process: BaseProcess | None = None

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    def start(self) -> None:
        """Start a process, and wait until it can grade."""
        ours, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(self.settings, theirs))
        self._process.start()
        assert ours.poll(_PATIENCE_S), "the server did not start"
        self.address = f"http://127.0.0.1:{ours.recv()}"
        self.wait(self._is_ready, "ready")

    def kill(self) -> None:
        """Kill the process without a warning."""
        os.kill(self.pid, signal.SIGKILL)
        self._join()

    def stop(self) -> None:
        """Let the process end in order."""
        os.kill(self.pid, signal.SIGTERM)
        self._join()

    def kill_if_alive(self) -> None:
        """Kill the process, if there is one."""
        if self._process is not None and self._process.is_alive():
            self.kill()

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until `holds` does."""
        deadline = time.monotonic() + _PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline, f"not {what} after {_PATIENCE_S:g} s"
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.address}/readyz").status_code == httpx.codes.OK
        except httpx.TimeoutException:
            return False

    def _join(self) -> None:
        assert self._process is not None
        self._process.join(_PATIENCE_S)
        assert self._process.exitcode is not None, "the server did not end"


def _serve(settings: Settings, told: Connection) -> None:
    import uvicorn

    from service.api.app import create_app
    from service.api.backend import Backend

    logging.basicConfig(level=logging.ERROR)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        told.send(listener.getsockname()[1])
        app = create_app(Backend(settings, open_knowing_engine))
        config = uvicorn.Config(app, log_level="error", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])
