"""From any older schema to this one, in the transaction that opens the ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from service.ledger import chain
from service.ledger.tables import answer_salt
from service.schema_script import run_script

_SCHEMAS = ("schema.sql", "schema-2.sql", "schema-3.sql")
"""What each schema adds to the one before."""
SCHEMA_VERSION = len(_SCHEMAS)

_PREVIOUS = """
    UPDATE submission SET previous = (
        SELECT submission_id FROM submission AS earlier
        WHERE earlier.exam_id = submission.exam_id AND earlier.answer_id = submission.answer_id
          AND earlier.attack_type = submission.attack_type AND earlier.row < submission.row
        ORDER BY earlier.row DESC LIMIT 1
    )
"""
_SUBMISSIONS = "SELECT row, exam_id, answer_id FROM submission"
_JUDGEMENTS = """
    SELECT judgement.row, exam_id, answer_id FROM judgement JOIN submission USING (submission_id)
"""


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a ledger of schema `version`, 0 for an empty file, to `SCHEMA_VERSION`."""
    for number, name in enumerate(_SCHEMAS[version:], start=version + 1):
        run_script(connection, Path(__file__).with_name(name))
        if number in _STEPS:
            _STEPS[number](connection)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _chain(connection: sqlite3.Connection) -> None:
    """Chain the rows of a log that had no hashes."""
    connection.execute(_PREVIOUS)
    for table, query in (("submission", _SUBMISSIONS), ("judgement", _JUDGEMENTS)):
        for row, exam_id, answer_id in connection.execute(query).fetchall():
            salt = answer_salt(connection, exam_id, answer_id)
            digest = chain.texts_hash(salt, chain.texts(connection, table, row))
            connection.execute(f"UPDATE {table} SET texts_hash = ? WHERE row = ?", (digest, row))
    for kind, row in connection.execute("SELECT kind, row FROM unchained_log ORDER BY seq"):
        chain.append(connection, kind, row)
    connection.execute("DROP TABLE unchained_log")


_STEPS: Mapping[int, Callable[[sqlite3.Connection], None]] = {3: _chain}
"""What a schema needs beside its script."""
