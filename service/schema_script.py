"""Schemas of SQLite files: scripts beside the code that uses them."""

from __future__ import annotations

import sqlite3
from pathlib import Path


def run_script(connection: sqlite3.Connection, script: Path) -> None:
    """Run a script whose statements end with `;` and a line break, in the open transaction.

    `Connection.executescript` would commit that first.
    """
    for statement in script.read_text(encoding="utf-8").split(";\n"):
        connection.execute(statement)
