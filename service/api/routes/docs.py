"""A page that describes the API: one file, no scripts, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from service.access import Role
from service.api.authorization import requires

router = APIRouter()

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem; font: bold 1.1rem ui-monospace, monospace; overflow-wrap: anywhere }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto; font-size: .85rem }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd }
  pre { background: #262626 } a { color: #8ab4f8 } }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}


@router.get("/docs", include_in_schema=False, dependencies=[requires(*Role)])
async def get_docs(request: Request) -> HTMLResponse:
    """The OpenAPI document for people."""
    return HTMLResponse(_page(request.app.openapi()), headers=_HEADERS)


def _page(document: Mapping[str, Any]) -> str:
    info = document["info"]
    scheme = document["components"]["securitySchemes"]["ApiKey"]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escape(info['title'])}</title><style>{_STYLE}</style>",
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
            f"<p>{escape(info['summary'])}.</p>",
            f"<p><code>Authorization: Bearer …</code> {escape(scheme['description'])}</p>",
            '<p>All schemas: <a href="openapi.json">openapi.json</a></p>',
            *_operations(document),
            "</html>",
        ]
    )


def _operations(document: Mapping[str, Any]) -> Iterator[str]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"<h2>{method.upper()} {escape(path)}</h2>"
            for paragraph in operation["description"].split("\n\n"):
                yield f"<p>{escape(paragraph)}</p>"
            if roles := [role for key in operation.get("security", ()) for role in key["ApiKey"]]:
                yield f"<p>Roles: {escape(', '.join(roles))}</p>"
            if "requestBody" in operation:
                yield from _example("Body, for example", document, operation["requestBody"])
            success = min(operation["responses"])
            yield from _example("Answer, for example", document, operation["responses"][success])


def _example(
    title: str, document: Mapping[str, Any], described: Mapping[str, Any]
) -> Iterator[str]:
    for content in described["content"].values():
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        for example in document["components"]["schemas"].get(name, {}).get("examples", ()):
            shown = json.dumps(example, ensure_ascii=False, indent=2)
            yield f"<p>{escape(title)}:</p><pre>{escape(shown)}</pre>"
