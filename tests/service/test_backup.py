"""Backups: made under writers, checked, put back, and the graph made anew from them."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
from click.testing import Result
from typer.testing import CliRunner

from service.access import KeyStore
from service.access.keys import Role
from service.backup import MANIFEST_NAME, BackupManifest, make_backup, restore_backup
from service.cli.app import app
from service.errors import BackupError, InputError
from service.graph import GraphStore
from service.jobs import JobStore, NewItem
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from service.settings import Settings
from tests.service.conftest import Server
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ATTACK, ScriptedEngine

FILES = {"keys.sqlite3", "jobs.sqlite3", "ledger.sqlite3"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a home with a graded and published run, a key and a batch that waits."""
    settings = Settings(home=tmp_path / "home")
    with closing(Ledger(settings.ledger_path)) as ledger:
        grade(ledger, range(3))
    with KeyStore(settings.keys_path) as keys:
        keys.create("lms", frozenset({Role.GRADE}), lifetime=timedelta(days=1))
    with JobStore(settings.jobs_path, most_jobs=1) as jobs:
        jobs.create([NewItem(QUESTION, "a9", "s9", "unlabelled", "It waits.")], None)
    return settings


def grade(ledger: Ledger, numbers: range) -> None:
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    for n in numbers:
        pipeline.grade(QUESTION, answer(f"Tide {n}{ATTACK * (n % 2)}", f"a{n}", f"s{n}"))


def elsewhere(settings: Settings) -> Settings:
    return settings.model_copy(update={"home": settings.home.with_name("restored")})


def test_a_backup_put_back_is_what_was_there(settings: Settings, tmp_path: Path) -> None:
    with closing(Ledger(settings.ledger_path)) as ledger:
        written, before = ledger.after(0, 1000), ledger.status()
    out = tmp_path / "backup"
    manifest, faults = make_backup(settings, out)
    assert faults == []
    assert (manifest.last_seq, manifest.head) == (before.last_seq, before.head)
    assert {path.name for path in out.iterdir()} == FILES | {MANIFEST_NAME}
    assert stat.S_IMODE(out.stat().st_mode) == 0o700

    restored = elsewhere(settings)
    assert restore_backup(restored, out) == manifest
    assert {path.name for path in restored.home.iterdir()} == FILES
    assert {stat.S_IMODE(path.stat().st_mode) for path in restored.home.iterdir()} == {0o600}
    with closing(Ledger(restored.ledger_path)) as ledger:
        assert ledger.after(0, 1000) == written
        assert list(ledger.faults()) == []
    with KeyStore(restored.keys_path) as keys, KeyStore(settings.keys_path) as original:
        assert keys.keys() == original.keys()
    with JobStore(restored.jobs_path, most_jobs=1) as jobs:
        [waiting] = jobs.unfinished()
        assert jobs.job(waiting).counts.waiting == 1


def test_a_backup_under_writers_is_one_moment_and_keeps_all_before_it(
    settings: Settings, tmp_path: Path
) -> None:
    ended = Event()
    with closing(Ledger(settings.ledger_path)) as ledger:

        def write() -> None:
            for n in range(3, 1000):
                if ended.is_set():
                    return
                grade(ledger, range(n, n + 1))

        writer = Thread(target=write)
        writer.start()
        try:
            for n in range(3):
                acknowledged = ledger.last_seq()
                manifest, faults = make_backup(settings, tmp_path / f"backup-{n}")
                assert faults == []
                assert manifest.last_seq >= acknowledged
                assert ledger.hash_at(manifest.last_seq) == manifest.head
        finally:
            ended.set()
            writer.join()


def test_a_home_without_keys_and_jobs_is_backed_up_too(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    with closing(Ledger(settings.ledger_path)) as ledger:
        grade(ledger, range(1))
    manifest, _ = make_backup(settings, tmp_path / "backup")
    assert manifest.files.keys() == {"ledger.sqlite3"}
    restore_backup(elsewhere(settings), tmp_path / "backup")
    assert not elsewhere(settings).keys_path.exists()


def test_nothing_is_replaced(settings: Settings, tmp_path: Path) -> None:
    out = tmp_path / "backup"
    make_backup(settings, out)
    with pytest.raises(InputError, match="replaces nothing"):
        make_backup(settings, out)
    before = settings.ledger_path.read_bytes()
    with pytest.raises(InputError, match="would be replaced"):
        restore_backup(settings, out)
    assert settings.ledger_path.read_bytes() == before
    restored = elsewhere(settings)
    restored.home.mkdir()
    left_over = restored.home / "ledger.sqlite3-wal"
    left_over.touch()
    with pytest.raises(InputError, match="wal would be replaced"):
        restore_backup(restored, out)
    assert list(restored.home.iterdir()) == [left_over]


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_changed_file_is_never_put_back(settings: Settings, tmp_path: Path, name: str) -> None:
    out = tmp_path / "backup"
    make_backup(settings, out)
    content = bytearray((out / name).read_bytes())
    content[len(content) // 2] ^= 1
    (out / name).write_bytes(content)
    with pytest.raises(BackupError, match="is not what was backed up"):
        restore_backup(elsewhere(settings), out)
    assert list(elsewhere(settings).home.iterdir()) == []


def test_a_ledger_that_was_changed_together_with_its_hash_is_never_put_back(
    settings: Settings, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(settings.ledger_path)) as connection, connection:
        connection.execute("UPDATE judgement SET predicted_score = 10 WHERE row = 2")
    out = tmp_path / "backup"
    _, faults = make_backup(settings, out)
    assert faults
    with pytest.raises(BackupError, match="fault"):
        restore_backup(elsewhere(settings), out)
    assert list(elsewhere(settings).home.iterdir()) == []


def test_another_head_than_the_manifest_says_is_found_out(
    settings: Settings, tmp_path: Path
) -> None:
    out = tmp_path / "backup"
    manifest, _ = make_backup(settings, out)
    noted = manifest.model_copy(update={"head": "00" * 32})
    (out / MANIFEST_NAME).write_text(noted.model_dump_json())
    with pytest.raises(BackupError, match="its manifest says"):
        restore_backup(elsewhere(settings), out)


@pytest.mark.parametrize(
    "files", [{}, {"keys.sqlite3": "0" * 64}, {"ledger.sqlite3": "", "../other": ""}]
)
def test_a_manifest_of_other_files_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    settings = Settings(home=tmp_path / "home")
    manifest = BackupManifest.model_validate(
        {
            "steadyeval": "1",
            "created_at": "2026-03-01T09:30:15Z",
            "ledger_id": "x",
            "last_seq": 0,
            "head": "",
            "files": files,
        }
    )
    (tmp_path / MANIFEST_NAME).write_text(manifest.model_dump_json())
    with pytest.raises(InputError, match="other files"):
        restore_backup(settings, tmp_path)


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    with pytest.raises(InputError, match="is no backup"):
        restore_backup(settings, tmp_path)
    (tmp_path / MANIFEST_NAME).write_text("{}")
    with pytest.raises(InputError, match="no manifest"):
        restore_backup(settings, tmp_path)
    with pytest.raises(InputError, match="there is no ledger"):
        make_backup(settings, tmp_path / "backup")
    assert not settings.home.exists()


def test_a_place_that_cannot_be_written_is_an_error(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BackupError, match="cannot make the backup"):
        make_backup(settings, tmp_path / "file" / "backup")


def test_a_backup_that_fails_leaves_nothing(settings: Settings, tmp_path: Path) -> None:
    settings.keys_path.write_bytes(b"no database" * 100)
    backups = tmp_path / "backups"
    with pytest.raises(BackupError, match="not a database"):
        make_backup(settings, backups / "today")
    assert list(backups.iterdir()) == []


def steadyeval(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_drill_from_a_lost_machine_to_ledger_and_graph(
    settings: Settings,
    store: GraphStore,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(settings.home))
    monkeypatch.setenv("STEADYEVAL_GRAPH", server.uri)
    monkeypatch.setenv("STEADYEVAL_GRAPH_USER", server.user)
    monkeypatch.setenv("STEADYEVAL_GRAPH_PASSWORD", server.password)
    monkeypatch.setenv("STEADYEVAL_GRAPH_DATABASE", server.database)
    assert steadyeval("ledger", "replay").exit_code == 0
    made = steadyeval("backup", str(tmp_path / "backup"))
    assert made.exit_code == 0, made.output
    assert ": good" in made.output

    server.run("MATCH (n) DETACH DELETE n")
    server.run("CREATE (:Judgement {judgement_id: 'of a later day', stage: 'filtered'})")
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "new machine"))
    restored = steadyeval("restore", str(tmp_path / "backup"))
    assert restored.exit_code == 0, restored.output
    assert "rebuild-graph" in restored.output
    assert "lms" in steadyeval("keys", "list").output
    assert steadyeval("ledger", "rebuild-graph", "--yes").exit_code == 0
    verified = steadyeval("ledger", "verify")
    assert verified.exit_code == 0, verified.output
    [(judgements,)] = store.query("MATCH (j:Judgement) RETURN count(j)").rows
    assert judgements == 9


def test_a_backup_of_a_ledger_with_faults_says_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(settings.home))
    with closing(sqlite3.connect(settings.ledger_path)) as connection, connection:
        connection.execute("UPDATE judgement SET predicted_score = 10 WHERE row = 2")
    made = steadyeval("backup", str(tmp_path / "backup"))
    assert made.exit_code == 1
    assert "is not what was chained" in made.output
    assert (tmp_path / "backup" / "ledger.sqlite3").exists()
