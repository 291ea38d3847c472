"""The SQLite file under the ledger: opened, kept private, written in durable transactions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, RLock
from typing import Any

from service.errors import InputError, LedgerError

_SCHEMAS = ("schema.sql", "schema-2.sql")
"""What each schema adds to the one before."""
SCHEMA_VERSION = len(_SCHEMAS)


class Database:
    """A connection that all threads share; other processes may have the file open too.

    A second one serves what must not wait for a writer: readers of a WAL file never do.
    """

    def __init__(self, path: Path, *, patience_s: float) -> None:
        self.path = path
        self._lock = RLock()
        self._glance_lock = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite gives its side files (-wal, -shm) the mode of the main file.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = self._connect(patience_s)
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"cannot open the ledger {path}: {error}") from error
        try:
            self._prepare()
            with self._named_errors():
                self._glance = self._connect(patience_s)
        except BaseException:
            self._connection.close()
            raise

    def _connect(self, patience_s: float) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=patience_s, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _prepare(self) -> None:
        with self.reading() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA foreign_keys = ON")
        with self.writing() as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                raise LedgerError(
                    f"the ledger {self.path} has schema {version}, made by a newer SteadyEval; "
                    f"this one knows schema {SCHEMA_VERSION}: upgrade SteadyEval"
                )
            for name in _SCHEMAS[version:]:
                script = Path(__file__).with_name(name).read_text(encoding="utf-8")
                for statement in script.split(";\n"):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for queries, one thread at a time.

        Raises:
            LedgerError: the file cannot be read.
            InputError: a text holds a lone surrogate, which no file can keep.
        """
        with self._lock, self._named_errors():
            yield self._connection

    @contextmanager
    def glancing(self) -> Iterator[sqlite3.Connection]:
        """A connection for a short query of what is committed, which waits for no writer.

        Raises:
            LedgerError: the file cannot be read.
        """
        with self._glance_lock, self._named_errors():
            yield self._glance

    @contextmanager
    def writing(self, *, lasting: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction: on disk when the block ends, undone whole when it raises.

        One that is not `lasting` is on disk when the next lasting one is; until then, a loss of
        power may undo it, a crash of the process may not.

        Raises:
            LedgerError: the file cannot be written (disk full, locked, read-only).
            InputError: as for `reading`.
        """
        with self.reading() as connection:
            connection.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def part(self, connection: sqlite3.Connection) -> Iterator[None]:
        """A part of a transaction, undone alone when the block raises."""
        connection.execute("SAVEPOINT part")
        try:
            with self._named_errors():
                yield
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK TO part")
            raise
        finally:
            if connection.in_transaction:
                connection.execute("RELEASE part")

    def close(self) -> None:
        """Close the file."""
        with self._lock, self._glance_lock:
            self._glance.close()
            self._connection.close()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            raise InputError(f"a text is not valid Unicode: {error}") from error
        except sqlite3.Error as error:
            raise LedgerError(f"the ledger {self.path} failed: {error}") from error


def insert(connection: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> bool:
    """Add a row unless its key is taken; True if it was added."""
    columns, marks = ", ".join(values), ", ".join(f":{column}" for column in values)
    statement = f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING"
    return connection.execute(statement, values).rowcount == 1


def insert_logged(connection: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> bool:
    """Add a row unless its key is taken, and if so its place in the log; True if it was added."""
    if not insert(connection, table, values):
        return False
    connection.execute("INSERT INTO log (kind, row) VALUES (?, last_insert_rowid())", (table,))
    return True
