"""The SQLite file of the API keys: hashes, never keys."""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Self

from service.access.keys import (
    ApiKey,
    IssuedKey,
    KeyLimits,
    Role,
    draw_token,
    hash_token,
    prefix_of,
)
from service.errors import InputError, KeyStoreError, UnauthorizedError
from service.schema_script import run_script

_SCHEMAS = ("schema.sql", "schema-2.sql")
"""What each schema adds to the one before."""
_SCHEMA_VERSION = len(_SCHEMAS)
_NO_HASH = bytes(32)
_NO_LIMITS = KeyLimits()
_PATIENCE_S = 10.0


class KeyStore:
    """All keys that were ever made. Safe to use from many threads and processes.

    A key is never deleted: its record tells later who could do what when.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            KeyStoreError: it cannot be opened, or a newer SteadyEval made it.
        """
        self.path = path
        self._lock = Lock()
        self._in_use = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite gives its side files (-wal, -shm) the mode of the main file.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise KeyStoreError(f"cannot open the file of API keys {path}: {error}") from error
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with self._reading() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        with self._writing() as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > _SCHEMA_VERSION:
                raise KeyStoreError(
                    f"the file of API keys {self.path} has schema {version}, made by a newer "
                    f"SteadyEval; this one knows schema {_SCHEMA_VERSION}: upgrade SteadyEval"
                )
            if version == _SCHEMA_VERSION:
                return
            for name in _SCHEMAS[version:]:
                run_script(connection, Path(__file__).with_name(name))
            connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")

    def create(
        self,
        name: str,
        roles: frozenset[Role],
        *,
        exams: frozenset[str] | None = None,
        limits: KeyLimits = _NO_LIMITS,
        lifetime: timedelta,
    ) -> IssuedKey:
        """Make a key.

        Args:
            name: who or what will use it.
            roles: what it may do.
            exams: ids of the exams that it reaches; None for all.
            limits: of its own.
            lifetime: how long it is valid from now on.

        Raises:
            KeyStoreError: the file cannot be written.
        """
        with self._writing() as connection:
            return _issue(connection, name, roles, exams, limits, lifetime)

    def in_use(self) -> bool:
        """Whether a key was ever made; from then on nobody gets in without one.

        Raises:
            KeyStoreError: the file cannot be read.
        """
        if not self._in_use:
            with self._reading() as connection:
                found = connection.execute("SELECT EXISTS (SELECT * FROM api_key)").fetchone()
            self._in_use = bool(found[0])
        return self._in_use

    def keys(self) -> list[ApiKey]:
        """Every key, oldest first.

        Raises:
            KeyStoreError: the file cannot be read.
        """
        with self._reading() as connection:
            found = connection.execute("SELECT * FROM api_key ORDER BY rowid").fetchall()
        return [_key(row) for row in found]

    def authenticate(self, token: str) -> ApiKey:
        """The key that a caller shows; how long it takes tells nothing about any other.

        Raises:
            UnauthorizedError: it is unknown, expired or revoked.
            KeyStoreError: the file cannot be read.
        """
        with self._reading() as connection:
            row = _find(connection, prefix_of(token))
        kept = _NO_HASH if row is None else row["hash"]
        if not hmac.compare_digest(hash_token(token), kept) or row is None:
            raise UnauthorizedError("the API key is not known")
        key = _key(row)
        if (state := key.state(_now())) != "active":
            raise UnauthorizedError(f"the API key {key.prefix} is {state}; ask for a new one")
        return key

    def revoke(self, prefix: str) -> ApiKey:
        """End a key now. One that is revoked already stays as it is.

        Raises:
            InputError: there is no such key.
            KeyStoreError: the file cannot be written.
        """
        with self._writing() as connection:
            key = _known(connection, prefix)
            if key.revoked_at is None:
                key = replace(key, revoked_at=_now())
                connection.execute(
                    "UPDATE api_key SET revoked_at = ? WHERE prefix = ?",
                    (_text(key.revoked_at), prefix),
                )
        return key

    def rotate(self, prefix: str, *, lifetime: timedelta, overlap: timedelta) -> IssuedKey:
        """Replace a key by a new one with its name, roles, exams and limits.

        Args:
            prefix: of the old key, which must still be active.
            lifetime: how long the new key is valid from now on.
            overlap: how much longer the old one is valid, at most to its own end.

        Raises:
            InputError: there is no such key, or it is expired or revoked.
            KeyStoreError: the file cannot be written.
        """
        with self._writing() as connection:
            old = _known(connection, prefix)
            now = _now()
            if (state := old.state(now)) != "active":
                raise InputError(f"the key {prefix} is {state}: make a new one")
            connection.execute(
                "UPDATE api_key SET expires_at = ? WHERE prefix = ?",
                (_text(min(old.expires_at, now + overlap)), prefix),
            )
            return _issue(connection, old.name, old.roles, old.exams, old.limits, lifetime)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._connection
        except sqlite3.Error as error:
            raise KeyStoreError(f"the file of API keys {self.path} failed: {error}") from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


def _issue(
    connection: sqlite3.Connection,
    name: str,
    roles: frozenset[Role],
    exams: frozenset[str] | None,
    limits: KeyLimits,
    lifetime: timedelta,
) -> IssuedKey:
    prefix, token = draw_token()
    now = _now()
    key = ApiKey(prefix, name, roles, exams, now, now + lifetime, limits=limits)
    connection.execute(
        "INSERT INTO api_key (prefix, hash, name, roles, exams, created_at, expires_at, "
        "requests_per_minute, max_body_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            prefix,
            hash_token(token),
            name,
            json.dumps(sorted(roles)),
            None if exams is None else json.dumps(sorted(exams)),
            _text(key.created_at),
            _text(key.expires_at),
            limits.requests_per_minute,
            limits.max_body_bytes,
        ),
    )
    return IssuedKey(key, token)


def _find(connection: sqlite3.Connection, prefix: str | None) -> sqlite3.Row | None:
    row = connection.execute("SELECT * FROM api_key WHERE prefix = ?", (prefix,)).fetchone()
    assert row is None or isinstance(row, sqlite3.Row)
    return row


def _known(connection: sqlite3.Connection, prefix: str) -> ApiKey:
    row = _find(connection, prefix)
    if row is None:
        raise InputError("no key has this prefix; see: steadyeval keys list")
    return _key(row)


def _key(row: sqlite3.Row) -> ApiKey:
    exams, revoked_at = row["exams"], row["revoked_at"]
    return ApiKey(
        prefix=row["prefix"],
        name=row["name"],
        roles=frozenset(Role(role) for role in json.loads(row["roles"])),
        exams=None if exams is None else frozenset(json.loads(exams)),
        created_at=datetime.fromisoformat(row["created_at"]),
        expires_at=datetime.fromisoformat(row["expires_at"]),
        revoked_at=None if revoked_at is None else datetime.fromisoformat(revoked_at),
        limits=KeyLimits(row["requests_per_minute"], row["max_body_bytes"]),
    )


def _now() -> datetime:
    return datetime.now(UTC)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
