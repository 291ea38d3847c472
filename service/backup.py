"""Copies of what cannot be made again: the ledger, the API keys and the batch jobs.

A backup is a folder with one SQLite file each and a manifest, which says what they must hash to and
where the ledger's chain ended. The graph is not in it, since it is made from the ledger.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import mkdtemp

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from service.errors import BackupError, InputError
from service.ledger import Ledger
from service.manifest import hash_file
from service.records import Fault
from service.settings import Settings

MANIFEST_NAME = "backup.json"
_SIDE_FILES = ("", "-wal", "-shm")


class BackupManifest(BaseModel):
    """What a backup holds.

    Attributes:
        steadyeval: version that made it.
        created_at: when.
        ledger_id: name of the ledger.
        last_seq: place of its newest record.
        head: hash of that record, hex, which binds all before it.
        files: SHA-256 of each file, hex, by name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    steadyeval: str
    created_at: AwareDatetime
    ledger_id: str
    last_seq: int
    head: str
    files: dict[str, str]


def make_backup(settings: Settings, out: Path) -> tuple[BackupManifest, list[Fault]]:
    """Copy the files of `settings.home` while other processes go on writing them.

    The folder appears whole or not at all.

    Args:
        settings: whose ledger, keys and jobs.
        out: the folder to make.

    Returns:
        What it holds, and what the copy of the ledger has of faults; none in a good one.

    Raises:
        InputError: there is no ledger, or `out` is there already.
        LedgerError: the copy of the ledger cannot be read.
        BackupError: a file cannot be read or written.
    """
    if not settings.ledger_path.exists():
        raise InputError(f"there is no ledger at {settings.ledger_path}; check STEADYEVAL_HOME")
    if os.path.lexists(out):
        raise InputError(f"{out} is there already; a backup replaces nothing: give another name")
    with _named_errors(f"cannot make the backup {out}"), _workplace(out.parent) as work:
        for path in _paths(settings):
            if path.exists():
                _copy_database(path, work / path.name)
        with closing(Ledger(work / settings.ledger_path.name)) as ledger:
            faults = list(ledger.faults())
            end = ledger.status()
        manifest = BackupManifest(
            steadyeval=version("steadyeval"),
            created_at=datetime.now(UTC),
            ledger_id=ledger.ledger_id,
            last_seq=end.last_seq,
            head=end.head,
            files={path.name: hash_file(path) for path in sorted(work.iterdir())},
        )
        (work / MANIFEST_NAME).write_text(manifest.model_dump_json(indent=2), encoding="utf-8")
        for path in (*work.iterdir(), work):
            _sync(path)
        work.rename(out)
        _sync(out.parent)
    return manifest, faults


def restore_backup(settings: Settings, source: Path) -> BackupManifest:
    """Put a backup into `settings.home`, once it has been checked whole.

    Args:
        settings: whose home; there must be no ledger, keys or jobs in it.
        source: the folder that `make_backup` made.

    Raises:
        InputError: `source` is no backup, or something is there that it would replace.
        LedgerError: its ledger cannot be read.
        BackupError: it is not what was written, or cannot be copied.
    """
    manifest = _read_manifest(source, settings)
    _require_free(settings)
    with _named_errors(f"cannot put back {source}"), _workplace(settings.home) as work:
        for name, digest in manifest.files.items():
            copyfile(source / name, work / name)
            (work / name).chmod(0o600)
            if hash_file(work / name) != digest:
                raise BackupError(
                    f"{source / name} is not what was backed up; nothing was put back: take "
                    "another backup"
                )
        _check_ledger(work / settings.ledger_path.name, manifest, source)
        _require_free(settings)
        # The ledger last: a home with grades but without the keys would be open to this machine.
        for path in _paths(settings):
            if path.name in manifest.files:
                _sync(work / path.name)
                (work / path.name).rename(path)
        _sync(settings.home)
    return manifest


def _paths(settings: Settings) -> Sequence[Path]:
    """The files, the ledger last: it then has all that the copied jobs know of."""
    return (settings.keys_path, settings.jobs_path, settings.ledger_path)


def _copy_database(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)


def _read_manifest(source: Path, settings: Settings) -> BackupManifest:
    path = source / MANIFEST_NAME
    try:
        manifest = BackupManifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{source} is no backup: it has no {MANIFEST_NAME}") from None
    except OSError as error:
        raise BackupError(f"cannot read {path}: {error}") from error
    except ValidationError as error:
        raise InputError(f"{path} is no manifest of a backup: {error}") from None
    known = {path.name for path in _paths(settings)}
    if not {settings.ledger_path.name} <= manifest.files.keys() <= known:
        named = ", ".join(f"{name!a}" for name in manifest.files)
        raise InputError(f"{path} names other files than a backup has: {named}")
    return manifest


def _require_free(settings: Settings) -> None:
    taken = [
        str(found)
        for path in _paths(settings)
        for suffix in _SIDE_FILES
        if (found := path.with_name(path.name + suffix)).exists()
    ]
    if taken:
        raise InputError(
            f"{', '.join(taken)} would be replaced; nothing was put back: stop what uses this "
            "home and move these files away, or set STEADYEVAL_HOME to another folder"
        )


def _check_ledger(path: Path, manifest: BackupManifest, source: Path) -> None:
    with closing(Ledger(path)) as ledger:
        faults = list(ledger.faults())
        end = ledger.status()
    if faults:
        raise BackupError(
            f"the ledger in {source} has {len(faults)} fault(s); nothing was put back: take "
            f"another backup. The first: {faults[0]}"
        )
    if (ledger.ledger_id, end.last_seq, end.head) != (
        manifest.ledger_id,
        manifest.last_seq,
        manifest.head,
    ):
        raise BackupError(
            f"the ledger in {source} ends at record {end.last_seq}, head {end.head}, and its "
            f"manifest says {manifest.last_seq}, head {manifest.head}; nothing was put back: take "
            "another backup"
        )


@contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    """A folder that only its owner can read, gone at the end unless it was renamed."""
    parent.mkdir(parents=True, exist_ok=True)
    work = Path(mkdtemp(prefix=".steadyeval-", dir=parent))
    try:
        yield work
    finally:
        rmtree(work, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _named_errors(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise BackupError(f"{what}: {error}") from error
