"""The hash chain: each row of the log binds its record and all rows before it.

The hash of a row is SHA-256 over the hash of the row before, the row's place, and the record in
canonical JSON. Columns without a value are left out, so that a later schema may add some. Texts
that may be erased are left out too; their keyed hash, `texts_hash`, stands for them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ERASABLE: Mapping[str, Sequence[str]] = {
    "submission": ("text",),
    "judgement": ("prompt", "raw_output", "justification", "cleaned_answer", "raw_score"),
}
"""Columns with texts of a student, or made from them, by table; `removed_span` has `text`."""


@dataclass(frozen=True)
class _Source:
    """Where the chained content of a kind of record stands: its row, and what belongs to it."""

    row: str
    lists: Sequence[str] = ()


_BY_ANSWER = "SELECT * FROM {kind} JOIN answer USING (exam_id, answer_id) WHERE {kind}.row = ?"

_SOURCES: Mapping[str, _Source] = {
    "question_version": _Source(
        "SELECT * FROM question_version WHERE row = ?",
        (
            "SELECT text, weight FROM criterion WHERE version = ? ORDER BY position",
            "SELECT text FROM misconception WHERE version = ? ORDER BY position",
        ),
    ),
    "submission": _Source(_BY_ANSWER.format(kind="submission")),
    "rating": _Source(_BY_ANSWER.format(kind="rating")),
    "judgement": _Source(
        "SELECT * FROM judgement WHERE row = ?",
        (
            "SELECT start_offset, end_offset, removed_span.confidence FROM removed_span "
            "JOIN judgement USING (judgement_id) WHERE judgement.row = ? ORDER BY position",
        ),
    ),
    "run": _Source("SELECT * FROM run WHERE row = ?"),
    "inclusion": _Source("SELECT * FROM inclusion WHERE row = ?"),
    "publication": _Source("SELECT * FROM publication WHERE row = ?"),
    "grade_of_record": _Source("SELECT * FROM grade_of_record WHERE row = ?"),
    "erasure": _Source("SELECT * FROM erasure WHERE row = ?"),
}
KINDS = tuple(_SOURCES)
"""The tables whose rows the log orders."""

_SPAN_TEXTS = """
    SELECT text FROM removed_span JOIN judgement USING (judgement_id)
    WHERE judgement.row = ? ORDER BY position
"""


def append(connection: sqlite3.Connection, kind: str, row: int) -> None:
    """Put a record, which is written whole, behind the last row of the log."""
    seq, before = head(connection)
    digest = link(before, seq + 1, content(connection, kind, row))
    connection.execute("INSERT INTO log VALUES (?, ?, ?, ?)", (seq + 1, kind, row, digest))


def head(connection: sqlite3.Connection) -> tuple[int, bytes]:
    """Place and hash of the newest row; before the first one, 0 and what the chain begins with."""
    last = connection.execute("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1").fetchone()
    return (0, origin(connection)) if last is None else (last["seq"], last["hash"])


def origin(connection: sqlite3.Connection) -> bytes:
    """What stands for the hash before the first row: that of the ledger's name."""
    (ledger_id,) = connection.execute("SELECT ledger_id FROM ledger").fetchone()
    return hashlib.sha256(ledger_id.encode("utf-8")).digest()


def link(before: bytes, seq: int, record: bytes) -> bytes:
    """The hash of a row of the log."""
    return hashlib.sha256(before + seq.to_bytes(8, "big") + record).digest()


def content(connection: sqlite3.Connection, kind: str, row: int) -> bytes:
    """What is chained of a record, in canonical JSON; of one that is not there, `null`."""
    source = _SOURCES[kind]
    found = connection.execute(source.row, (row,)).fetchone()
    if found is None:
        return b"null"
    left_out = ERASABLE.get(kind, ())
    columns = {
        name: found[name]
        for name in found.keys()  # noqa: SIM118 (a row iterates over its values)
        if found[name] is not None and name not in left_out
    }
    lists = [[tuple(item) for item in connection.execute(query, (row,))] for query in source.lists]
    return _canonical([kind, columns, lists])


def texts(connection: sqlite3.Connection, kind: str, row: int) -> list[str | None]:
    """The erasable texts of a submission or a judgement, those of removed spans last."""
    columns = ", ".join(ERASABLE[kind])
    found = [*connection.execute(f"SELECT {columns} FROM {kind} WHERE row = ?", (row,)).fetchone()]
    if kind == "judgement":
        found += [text for (text,) in connection.execute(_SPAN_TEXTS, (row,))]
    return found


def texts_hash(salt: bytes, texts: Sequence[str | None]) -> bytes:
    """A keyed hash of the erasable texts of a record; it says nothing without the salt."""
    return hmac.new(salt, _canonical(texts), hashlib.sha256).digest()


def _canonical(value: Any) -> bytes:
    encoded = json.dumps(value, sort_keys=True, separators=(",", ":"), default=bytes.hex)
    return encoded.encode("ascii")
