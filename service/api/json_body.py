"""Request bodies read by the same strict JSON as files."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from json import JSONDecodeError
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from service.json_lines import AmbiguousJsonError, parse_json


class UnreadableBodyError(ValueError):
    """The body is no JSON in UTF-8, or JSON that readers understand differently."""


class JsonRoute(APIRoute):
    """A route whose body has no doubled keys: which of the two counts differs between readers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, given requests that read their body strictly."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handle_strictly


class _JsonRequest(Request):
    async def body(self) -> bytes:
        body = await super().body()
        if not body and "json" in self.headers.get("content-type", "json"):
            raise UnreadableBodyError("it is empty")
        return body

    async def json(self) -> Any:
        body = await self.body()
        try:
            return parse_json(body.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise UnreadableBodyError(_reason(error)) from error


def _reason(error: ValueError | RecursionError) -> str:
    match error:
        case UnicodeDecodeError():
            return f"{error.reason} at byte {error.start}"
        case JSONDecodeError():
            return f"{error.msg} at character {error.pos}"
        case RecursionError():
            return "it is nested too deeply"
        case AmbiguousJsonError():
            return str(error)
        case _:
            return "a number has too many digits"
