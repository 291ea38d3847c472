"""Values in tables on a terminal."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from service.printable import printable


def cell(value: Any, *, at_most: int | None = None) -> Text:
    """A value as text of `at_most` characters; no control character of a student's gets through."""
    match value:
        case None:
            shown = "–"
        case float():
            shown = f"{value:.4g}"
        case list():
            shown = "\n".join(str(item) for item in value)
        case _:
            shown = str(value)
    if at_most is not None and len(shown) > at_most:
        shown = f"{shown[:at_most]}…"
    return Text(printable(shown, but="\n"))
