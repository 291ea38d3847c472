"""Text in an encoding: base64, base32, hex, binary digits, percent, references, escapes."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

from service.disguises.replacement import Replacement

_PROSE_SHARE = 0.8
"""How much of decoded text are letters, digits and spaces; keys and hashes decode to anything."""


def _base64(run: str) -> bytes:
    digits = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)


def _base32(run: str) -> bytes:
    digits = run.rstrip("=")
    return base64.b32decode(digits + "=" * (-len(digits) % 8))


def _hex(run: str) -> bytes:
    return bytes.fromhex(re.sub(r"\\x|0x|[\s:,]", "", run))


def _binary(run: str) -> bytes:
    digits = re.sub(r"\s", "", run)
    return bytes(int(digits[start : start + 8], 2) for start in range(0, len(digits), 8))


def _escapes(run: str) -> bytes:
    return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), run).encode("utf-8")


def _references(run: str) -> bytes:
    return html.unescape(run).encode("utf-8")


_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_ENCODINGS: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
    (re.compile(r"(?<![01])[01]{8}(?: ?[01]{8}){7,}(?![01])"), _binary),
    (
        re.compile(
            r"(?<![0-9A-Za-z])(?:\\x|0x)?[0-9A-Fa-f]{2}"
            r"(?:[ :,]{0,2}(?:\\x|0x)?[0-9A-Fa-f]{2}){7,}(?![0-9A-Za-z])"
        ),
        _hex,
    ),
    (re.compile(r"\\u[0-9a-fA-F]{4}(?: ?\\u[0-9a-fA-F]{4}){7,}"), _escapes),
    (re.compile(r"&#x?[0-9a-fA-F]{1,6};(?: ?&#x?[0-9a-fA-F]{1,6};){7,}"), _references),
    (re.compile(r"%[0-9A-Fa-f]{2}(?:[\w.~+-]*%[0-9A-Fa-f]{2})+[\w.~+-]*"), unquote_to_bytes),
    (re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{16,}={0,6}(?![A-Za-z0-9])"), _base32),
    (re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}"), _base64),
)


def encoded(text: str) -> Iterator[Replacement]:
    """Encoded runs that decode to mostly letters and spaces."""
    found = [
        Replacement(run.start(), run.end(), plain)
        for pattern, decode in _ENCODINGS
        for run in pattern.finditer(text)
        if (plain := _prose(decode, run[0]))
    ]
    done = 0
    for replacement in sorted(found, key=lambda found: found.start):
        if replacement.start >= done:
            yield replacement
            done = replacement.end


def _prose(decode: Callable[[str], bytes], run: str) -> str | None:
    try:
        plain = decode(run).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    if " " not in plain.strip() or not all(mark.isprintable() or mark.isspace() for mark in plain):
        return None
    prose = sum(mark.isalnum() or mark.isspace() for mark in plain)
    return plain if prose >= _PROSE_SHARE * len(plain) else None
