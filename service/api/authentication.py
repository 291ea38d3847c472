"""Who sent a request: asked before its body is read, for every path but the probes."""

from __future__ import annotations

import math
from functools import partial

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.access import ANONYMOUS, LOCAL, Caller, KeyStore, RateLimit
from service.access.loopback import is_loopback
from service.api import problems
from service.errors import (
    AccessError,
    ForbiddenError,
    KeyStoreError,
    TooManyRequestsError,
    UnauthorizedError,
)

LIVENESS, READINESS = "/healthz", "/readyz"
"""What anybody may ask; a key that comes along must be valid all the same."""
_LOOKUPS_AT_ONCE = 4


class Authentication:
    """Middleware that leaves the `Caller` in `request.state.caller`, or refuses the request.

    While no key has been made, it serves only requests that name this machine as their host: a
    page of another site can point a name of its own at 127.0.0.1, but its browser sends that name.
    """

    def __init__(self, app: ASGIApp, keys: KeyStore, per_minute: int) -> None:
        self._app = app
        self._keys = keys
        self._per_minute = per_minute
        self._rate = RateLimit()
        # The event loop must not wait for the disk, nor these look-ups for gradings.
        self._lookups = CapacityLimiter(_LOOKUPS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._caller(scope["path"], Headers(scope=scope))
        except (AccessError, KeyStoreError) as error:
            response = await problems.respond(Request(scope), error)
            await response(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)

    async def _caller(self, path: str, headers: Headers) -> Caller:
        if "authorization" in headers:
            return await self._holder(_bearer(headers["authorization"]))
        if path == LIVENESS:
            return ANONYMOUS
        in_use = await to_thread.run_sync(self._keys.in_use, limiter=self._lookups)
        if not in_use and is_loopback(_name(headers.get("host", ""))):
            return LOCAL
        if path == READINESS:
            return ANONYMOUS
        if in_use:
            raise UnauthorizedError("send an API key: Authorization: Bearer ste_…")
        raise ForbiddenError(
            "no API key has been made, so only requests to localhost are answered; "
            "make one: steadyeval keys create"
        )

    async def _holder(self, token: str) -> Caller:
        authenticate = partial(self._keys.authenticate, token)
        key = await to_thread.run_sync(authenticate, limiter=self._lookups)
        per_minute = key.limits.requests_per_minute or self._per_minute
        if wait := self._rate.take(key.prefix, per_minute):
            raise TooManyRequestsError(math.ceil(wait), per_minute)
        return Caller.with_key(key)


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise UnauthorizedError("send the API key as: Authorization: Bearer ste_…")
    return token.strip()


def _name(host: str) -> str:
    """The header `Host` without its port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
