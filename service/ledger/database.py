"""The SQLite file under the ledger: opened, kept private, written in durable transactions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock, RLock

from service.errors import InputError, LedgerDamagedError, LedgerError
from service.ledger.migrations import SCHEMA_VERSION, migrate

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_DISK = "; nothing of this was recorded, what was recorded before is safe: make room on that disk"
_HINTS = {sqlite3.SQLITE_FULL: _DISK, sqlite3.SQLITE_IOERR: _DISK}


class Database:
    """A connection that all threads share; other processes may have the file open too.

    A second one serves what must not wait for a writer: readers of a WAL file never do.
    """

    def __init__(self, path: Path, *, patience_s: float) -> None:
        self.path = path
        self._patience_s = patience_s
        self._lock = RLock()
        self._glance_lock = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite gives its side files (-wal, -shm) the mode of the main file.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(
                f"cannot open the ledger {path}: {error}; check that folder, or set STEADYEVAL_HOME"
            ) from error
        try:
            self._prepare()
            with self._named_errors():
                self._glance = self._connect()
        except BaseException:
            self._connection.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._patience_s, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _prepare(self) -> None:
        with self.reading() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA foreign_keys = ON")
            # What is erased is overwritten, not only forgotten.
            connection.execute("PRAGMA secure_delete = ON")
            if _version(connection) == SCHEMA_VERSION:
                return
        with self.writing() as connection:
            version = _version(connection)
            if version > SCHEMA_VERSION:
                raise LedgerError(
                    f"the ledger {self.path} has schema {version}, made by a newer SteadyEval; "
                    f"this one knows schema {SCHEMA_VERSION}: upgrade SteadyEval"
                )
            migrate(connection, version)

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
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees what is committed now and nothing later, however long it takes.

        Raises:
            LedgerError: the file cannot be read.
        """
        with self._named_errors(), closing(self._connect()) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection

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

    def check_writable(self) -> None:
        """Write what changes nothing, as a disk that is full shows only then.

        Raises:
            LedgerError: the file cannot be written (disk full, locked, read-only).
        """
        with self.writing(lasting=False) as connection:
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

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

    def empty_wal(self) -> bool:
        """Bring all that is committed into the main file and empty the write-ahead log.

        False if somebody reads what is in it: it is emptied later.
        """
        with self.reading() as connection:
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

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
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # Where the bytes of a damaged schema stand in SQLite's message, that cannot be decoded.
            garbled = isinstance(error, UnicodeDecodeError) or "decode to UTF-8" in str(error)
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if garbled or code in _DAMAGE:
                raise LedgerDamagedError(
                    f"the ledger {self.path} is damaged ({error}); stop what uses it and put the "
                    "last good copy in its place: docs/ledger.md says how"
                ) from error
            hint = _HINTS.get(code, "")
            raise LedgerError(f"the ledger {self.path} failed: {error}{hint}") from error


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
