"""Servers for tests: two real ones, and one that answers as it is told."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx

_LLAMA = """
import sys
import xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.model_alias = {"tiny"}
parameters.n_ctx, parameters.n_parallel = 8192, 4
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
sys.stdin.read()
"""


@contextmanager
def llama_server(gguf: Path) -> Iterator[str]:
    """llama.cpp's own HTTP server with one model, `tiny`; its base URL."""
    port = _free_port()
    with _running([sys.executable, "-c", _LLAMA, str(gguf), str(port)], port):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def transformers_server(folder: Path) -> Iterator[str]:
    """`transformers serve` with one model, named by its folder; its base URL."""
    port = _free_port()
    program = str(Path(sys.executable).with_name("transformers"))
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with _running([program, "serve", str(folder), *options], port):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        try:
            _wait_until_healthy(process, f"http://127.0.0.1:{port}/health")
            yield
        finally:
            process.kill()


def _wait_until_healthy(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise TimeoutError(url)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


Reply = tuple[int, Any] | tuple[int, Any, dict[str, str]] | None
"""Status, JSON value or raw bytes, headers; None hangs up without an answer."""


@contextmanager
def scripted_server(answer: Callable[[str, dict[str, Any]], Reply]) -> Iterator[str]:
    """A server whose reply to each (path, JSON body) is what `answer` returns; its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, body: dict[str, Any]) -> None:
            reply = answer(self.path, {**body, "authorization": self.headers["Authorization"]})
            if reply is None:
                self.close_connection = True
                return
            status, content, *headers = reply
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in (headers[0] if headers else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def unused_url() -> str:
    """A base URL where nobody listens."""
    return f"http://127.0.0.1:{_free_port()}/v1"
