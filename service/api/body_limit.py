"""A limit on request bodies that holds while they arrive."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access import Caller


class BodyLimit:
    """Middleware that stops reading a body as soon as it is longer than path or caller allow.

    One that is declared longer is not read at all. The caller must be known before.

    FastAPI has a limit too, but answers in plain text where a length was declared.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, by_path: Mapping[str, int]) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._by_path = by_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope)
        declared = Headers(scope=scope).get("content-length", "")
        too_long = declared.isdecimal() and int(declared) > limit
        received = 0

        async def bounded() -> Message:
            nonlocal received
            if too_long:
                raise _refusal(limit)
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise _refusal(limit)
            return message

        await self._app(scope, bounded, send)

    def _limit(self, scope: Scope) -> int:
        of_path = self._by_path.get(scope["path"], self._max_bytes)
        caller: Caller = scope["state"]["caller"]
        return of_path if caller.max_body_bytes is None else min(of_path, caller.max_body_bytes)


def _refusal(limit: int) -> HTTPException:
    return HTTPException(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {limit} bytes"
    )
