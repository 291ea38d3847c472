"""Every request with its id, its line in the log, its numbers and its span."""

from __future__ import annotations

import logging
from time import perf_counter
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.observability import metrics, request_id, tracing
from service.observability.log_lines import FIELDS

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
_FAILED = 500

_log = logging.getLogger(__name__)


class Observed:
    """Middleware around all others.

    Routes are told by their template: a path may hold the id of an answer, and there is no limit
    to how many paths can be asked for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        served = request_id.accepted(headers.get(request_id.HEADER))
        token = request_id.current.set(served)
        try:
            await self._serve(scope, receive, send, headers, served)
        finally:
            request_id.current.reset(token)

    async def _serve(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, served: str
    ) -> None:
        began = perf_counter()
        status = _FAILED

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[request_id.HEADER] = served
            await send(message)

        try:
            with tracing.span("request", {"http.request.method": _method(scope)}, caller=headers):
                try:
                    await self._app(scope, receive, noting)
                finally:
                    tracing.describe(
                        {"http.route": _route(scope), "http.response.status_code": status}
                    )
        finally:
            _tell(scope, status, perf_counter() - began)


def _tell(scope: Scope, status: int, seconds: float) -> None:
    method, route = _method(scope), _route(scope)
    metrics.REQUESTS.labels(method, route, str(status)).inc()
    metrics.REQUEST_SECONDS.labels(method, route).observe(seconds)
    fields: dict[str, Any] = {
        "method": method,
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    caller = scope.get("state", {}).get("caller")
    if caller is not None and caller.prefix is not None:
        fields["key"] = caller.prefix
    _log.info("request", extra={FIELDS: fields})


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "other"


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", "none")
