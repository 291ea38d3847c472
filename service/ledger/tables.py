"""How rows get into the ledger's tables, those of logged records with their place in the chain."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from typing import Any

from service.ledger import chain

_SALT_BYTES = 16


def insert(connection: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> bool:
    """Add a row unless its key is taken; True if it was added."""
    columns, marks = ", ".join(values), ", ".join(f":{column}" for column in values)
    statement = f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING"
    return connection.execute(statement, values).rowcount == 1


def insert_logged(connection: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> bool:
    """Add a row unless its key is taken, and if so its place in the log; True if it was added."""
    if not insert(connection, table, values):
        return False
    chain.append(connection, table, last_row(connection))
    return True


def last_row(connection: sqlite3.Connection) -> int:
    """The number of the row that this connection added last."""
    return int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])


def answer_salt(connection: sqlite3.Connection, exam_id: str, answer_id: str) -> bytes:
    """The salt of an answer, drawn if it has none."""
    key = {"exam_id": exam_id, "answer_id": answer_id}
    insert(connection, "salt", {**key, "salt": secrets.token_bytes(_SALT_BYTES)})
    row = connection.execute(
        "SELECT salt FROM salt WHERE exam_id = :exam_id AND answer_id = :answer_id", key
    ).fetchone()
    return bytes(row["salt"])
