"""What happens to the file: it is private, durable, whole, and its troubles have clear names."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from service.errors import LedgerError
from service.judgement import Judgement
from service.ledger import Ledger
from service.records import Inclusion, Run
from tests.service.exam_world import QUESTION, judgements, run, submission

NAMES = """
import os, resource, signal, sys
from pathlib import Path
from service.errors import LedgerError
from service.ledger import Ledger
from tests.service.exam_world import *
path = Path(sys.argv[1])
ledger = Ledger(path)
"""


def child(program: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", NAMES + program, str(path)], capture_output=True, text=True
    )


def test_only_its_owner_can_read_the_file(path: Path, ledger: Ledger) -> None:
    ledger.register_questions([QUESTION])
    files = list(path.parent.iterdir())
    assert path in files
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_commit_waits_for_the_disk(ledger: Ledger) -> None:
    with ledger._database.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_a_ledger_of_a_newer_release_is_left_alone(path: Path, ledger: Ledger) -> None:
    ledger.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(LedgerError, match=r"schema 99.*upgrade"):
        Ledger(path)


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are not the grades you are looking for" * 100, encoding="utf-8")
    with pytest.raises(LedgerError, match=r"notes\.txt is damaged.*not a database"):
        Ledger(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="cannot open the ledger"):
        Ledger(tmp_path / "file" / "ledger.sqlite3")


def test_a_writer_that_does_not_let_go_is_reported(path: Path) -> None:
    hasty = Ledger(path, patience_s=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked"):
            hasty.register_questions([QUESTION])
    hasty.register_questions([QUESTION])
    assert hasty.question("Tides", "q1") == QUESTION
    hasty.close()


def test_the_newest_place_is_told_while_a_writer_waits_for_another_process(path: Path) -> None:
    patient = Ledger(path)
    begun = threading.Event()
    with patient._database.reading() as connection:
        connection.set_trace_callback(lambda _: begun.set())
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(target=patient.register_questions, args=([QUESTION],))
        writer.start()
        begun.wait()
        assert patient.last_seq() == 0
        assert writer.is_alive()
        other.execute("ROLLBACK")
    writer.join()
    assert patient.last_seq() == 1
    patient.close()


FULL_DISK = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    ledger.record(run(), [QUESTION], [submission("long " * 100_000)], judgements())
except LedgerError as error:
    print(error)
ledger.close()
"""


def test_a_full_disk_is_reported_and_leaves_nothing_behind(path: Path) -> None:
    done = child(FULL_DISK, path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"the ledger {path} failed")
    ledger = Ledger(path)
    assert ledger.after(0, 10) == []
    ledger.close()


KILLED = """
ledger.record(run("whole"), [QUESTION], [submission()], judgements())
def die(statement):
    if "INSERT INTO inclusion" in statement:
        os.kill(os.getpid(), signal.SIGKILL)
with ledger._database.reading() as connection:
    connection.set_trace_callback(die)
ledger.record(run("half"), [QUESTION], [submission(name="sub-2")],
              judgements("sub-2", prefix="half"))
"""


def test_a_process_that_is_killed_while_it_records_leaves_no_half_record(path: Path) -> None:
    done = child(KILLED, path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    ledger = Ledger(path)
    found = [logged.record for logged in ledger.after(0, 1000)]
    assert [record for record in found if isinstance(record, Run)] == [run("whole")]
    assert [record for record in found if isinstance(record, Judgement)] == judgements()
    assert len([record for record in found if isinstance(record, Inclusion)]) == 3
    ledger.record(
        run("half"), [QUESTION], [submission(name="sub-2")], judgements("sub-2", prefix="half")
    )
    assert ledger.find("half-filtered") is not None
    ledger.close()
