"""Ledgers as earlier releases left them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

_SCRIPTS = ("schema.sql", "schema-2.sql")


def leave_behind(path: Path, source: Path, *, version: int) -> None:
    """Write what stands in the ledger `source` as a release with schema `version` would have."""
    with closing(sqlite3.connect(path)) as connection:
        for script in _SCRIPTS[:version]:
            connection.executescript((files("service.ledger") / script).read_text("utf-8"))
        connection.execute("ATTACH ? AS source", (str(source),))
        connection.execute("DELETE FROM ledger")
        tables = connection.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            names = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            columns = ", ".join(names)
            connection.execute(
                f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}"
            )
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
