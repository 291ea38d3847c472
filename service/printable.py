"""Text of others on one line of a terminal or a log."""

from __future__ import annotations


def printable(text: str, *, but: str = "") -> str:
    """`text` with everything that is no visible character, except those of `but`, escaped."""
    return "".join(c if c.isprintable() or c in but else ascii(c)[1:-1] for c in text)
