"""`steadyeval serve`: the HTTP API."""

from __future__ import annotations

import copy
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Annotated, Any

import typer

from service.cli.options import GraphOption, ProfileOption, given_settings
from service.errors import SettingsError
from service.settings import Settings


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    graph: GraphOption = None,
    profile: ProfileOption = None,
) -> None:
    """Serve the HTTP API until SIGTERM or Ctrl+C."""
    settings = given_settings(graph=graph, profile=profile)
    _refuse_remote(host, settings)
    with _listen(host, port) as listener:
        _run(settings, listener)


def _refuse_remote(host: str, settings: Settings) -> None:
    if settings.allow_remote or host == "localhost":
        return
    with suppress(ValueError):
        if ip_address(host).is_loopback:
            return
    raise SettingsError(
        f"{host} is not a loopback address, and the API asks nobody who they are: whoever "
        "reaches it can read and write grades. Listen on 127.0.0.1 behind a proxy that "
        "authenticates, or set STEADYEVAL_ALLOW_REMOTE=1 where the network is closed, as in a "
        "container"
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
    import uvicorn

    from service.api.app import create_app
    from service.api.backend import Backend

    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"SteadyEval listens on http://{shown}:{port} (its API: /docs)", err=True)
    config = uvicorn.Config(create_app(Backend(settings)), log_config=_log_config())
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _log_config() -> dict[str, Any]:
    from uvicorn.config import LOGGING_CONFIG

    config = copy.deepcopy(LOGGING_CONFIG)
    config["loggers"]["service"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return config
