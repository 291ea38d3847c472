"""`steadyeval serve`: the HTTP API."""

from __future__ import annotations

import signal
import socket
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from service.access.loopback import is_loopback
from service.access.store import KeyStore
from service.cli.options import GraphOption, ProfileOption, given_settings
from service.errors import SettingsError
from service.settings import Settings

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI


_LAST_SECONDS = 5
"""To answer what was given up at the end of the time that requests have when the service stops."""


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    graph: GraphOption = None,
    profile: ProfileOption = None,
) -> None:
    """Serve the HTTP API until SIGTERM or Ctrl+C."""
    settings = given_settings(graph=graph, profile=profile)
    _refuse_strangers(host, settings)
    with _listen(host, port) as listener:
        _run(settings, listener)


def _refuse_strangers(host: str, settings: Settings) -> None:
    if is_loopback(host):
        return
    with KeyStore(settings.keys_path) as keys:
        if not keys.in_use():
            raise SettingsError(
                f"{host} is not a loopback address, and no API key has been made: whoever reaches "
                "the service could read and write grades. Make a key first, such as: "
                "steadyeval keys create NAME --role grade"
            )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {host} port {port}: {error.strerror}; "
            "stop what uses it, or choose another with --port"
        ) from error


def _run(settings: Settings, listener: socket.socket) -> None:
    # Only here, since the other commands need no web framework.
    from service.api.app import create_app
    from service.api.backend import Backend

    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"SteadyEval listens on http://{shown}:{port} (its API: /docs)", err=True)
    # The server repeats the signal that it was stopped with: one that was asked for is no failure.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        _server(create_app(Backend(settings)), settings).run(sockets=[listener])


def _server(app: FastAPI, settings: Settings) -> uvicorn.Server:
    import uvicorn

    from service.observability.log_lines import log_config

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # It waits for open responses, and a stream of events has no end of its own.
            app.state.backend.say_stopping()
            super().handle_exit(sig, frame)

    return Server(
        uvicorn.Config(
            app,
            log_config=log_config(settings),
            # The application tells of each request itself.
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=settings.shutdown_seconds + _LAST_SECONDS,
        )
    )
