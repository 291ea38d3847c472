"""Ledgers of every earlier schema are brought up to date when they are opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from service.exam import ExamItem, HumanScore
from service.ledger import Ledger
from service.ledger.migrations import SCHEMA_VERSION
from service.records import Submission
from tests.service.exam_world import QUESTION, answer, judgements, run, submission
from tests.service.ledger.old_ledgers import leave_behind

LATER = replace(submission("The Moon and the Sun pull."), submission_id="sub-2")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A ledger of today with two texts for an answer."""
    path = tmp_path / "written.sqlite3"
    ledger = Ledger(path)
    ledger.register([ExamItem(QUESTION, answer(), (HumanScore("rater1", 7.0),))])
    ledger.record(run(), [QUESTION], [submission()], judgements())
    ledger.record(run("run-2"), [QUESTION], [LATER], judgements("sub-2", "later"))
    ledger.close()
    return path


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_an_older_ledger_keeps_its_records_and_is_chained(
    path: Path, written: Path, version: int
) -> None:
    path.parent.mkdir()
    leave_behind(path, written, version=version)
    today, migrated = Ledger(written), Ledger(path)
    assert migrated.after(0, 1000) == today.after(0, 1000)
    assert migrated.status() == today.status()
    assert migrated.ledger_id == today.ledger_id
    assert list(migrated.faults()) == []
    [*_, later] = [r.record for r in migrated.after(0, 1000) if isinstance(r.record, Submission)]
    assert later == replace(LATER, previous="sub-1")
    today.close()
    migrated.close()


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_an_older_ledger_is_written_on(path: Path, written: Path, version: int) -> None:
    path.parent.mkdir()
    leave_behind(path, written, version=version)
    migrated = Ledger(path)
    filtering = judgements()[0]
    assert (migrated.find_result(filtering.result_key(submission().text)) is None) == (version < 2)
    before = migrated.last_seq()
    migrated.record(run(), [QUESTION], [submission()], judgements())
    assert migrated.last_seq() == before
    migrated.record(
        run("run-3"),
        [QUESTION],
        [submission("Tides.", "sub-3")],
        judgements("sub-3", "new"),
    )
    assert list(migrated.faults()) == []
    migrated.close()


def test_a_ledger_without_salts_gets_them(path: Path, written: Path) -> None:
    path.parent.mkdir()
    leave_behind(path, written, version=2)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM salt")
    migrated = Ledger(path)
    assert list(migrated.faults()) == []
    migrated.close()


def test_an_interrupted_migration_changes_nothing(
    path: Path, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir()
    leave_behind(path, written, version=2)
    with monkeypatch.context() as patched:
        patched.setattr("service.ledger.chain.append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Ledger(path)
    today, migrated = Ledger(written), Ledger(path)
    assert migrated.status() == today.status()
    assert list(migrated.faults()) == []
    today.close()
    migrated.close()


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
