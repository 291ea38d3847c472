"""JSON Lines read so that every fault is found and named with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from service.errors import InputError, LineError


class AmbiguousJsonError(ValueError):
    """JSON that readers understand differently: a doubled key, NaN or an infinity."""


@dataclass(frozen=True)
class Row:
    """The fields of one record, and the line where it starts."""

    line: int
    values: dict[str, Any]


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def decode(raw: bytes, faults: list[LineError]) -> str:
    """The file's text; empty, with a fault for each bad line, where it is not UTF-8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    for number, line in enumerate(raw.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = (
                f"byte 0x{line[error.start]:02x} at position {error.start + 1} is not UTF-8; "
                "save the file as UTF-8"
            )
            faults.append(LineError(number, None, reason))
    return ""


def json_rows(text: str, faults: list[LineError]) -> Iterator[Row]:
    """The JSON objects of a text, one a line; a fault for each line that is none."""
    # Only \n ends a line: JSON strings may hold U+2028 and other characters that break lines.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
        except (ValueError, RecursionError) as error:
            faults.append(LineError(number, None, f"is not valid JSON: {error}"))
            continue
        if isinstance(record, dict):
            yield Row(number, record)
        else:
            faults.append(LineError(number, None, "is not a JSON object {…}"))


def parse_json(text: str) -> Any:
    """A JSON value without doubled keys and without NaN and infinities.

    Raises:
        AmbiguousJsonError: it has one of them.
        ValueError: it is no JSON, or has a number with too many digits.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_no_doubles, parse_constant=_no_constant)


def line_errors(line: int, error: ValidationError) -> Iterator[LineError]:
    """What pydantic found wrong with the record of a line."""
    for fault in error.errors(include_url=False, include_input=False):
        reason = fault["msg"].removeprefix("Value error, ")
        yield LineError(line, _column(fault["loc"]), reason)


def _column(location: tuple[int | str, ...]) -> str | None:
    """`Gold_points[0][1]`: a column, and for lists the place in it."""
    if not location:
        return None
    return str(location[0]) + "".join(f"[{part!r}]" for part in location[1:])


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise AmbiguousJsonError(f"the key {doubled!r} stands there twice")
    return values


def _no_constant(name: str) -> NoReturn:
    raise AmbiguousJsonError(f"{name} is no number")
