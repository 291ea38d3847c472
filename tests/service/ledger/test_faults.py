"""What can go wrong around a ledger, and what must hold all the same."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.errors import LedgerError
from service.ledger import Ledger
from service.pipeline import GradedAnswer, GradingPipeline
from service.records import Submission
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ScriptedEngine

KILLED_AFTER_COMMIT = """
import os, signal, sys
from pathlib import Path
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ScriptedEngine
ledger = Ledger(Path(sys.argv[1]))
ledger.subscribe(lambda: os.kill(os.getpid(), signal.SIGKILL))
GradingPipeline(ScriptedEngine(), ledger=ledger).grade(QUESTION, answer())
"""


LONG = "and so on " * 500


def ids(graded: GradedAnswer) -> list[str]:
    return [
        judgement.judgement_id for judgement in (graded.baseline, graded.filter, graded.filtered)
    ]


def kinds(ledger: Ledger) -> dict[str, int]:
    return dict(ledger.status().records)


def test_who_asks_again_after_a_crash_gets_what_was_recorded(path: Path) -> None:
    """The process dies when its grade is on disk and before anybody was told."""
    done = subprocess.run([sys.executable, "-c", KILLED_AFTER_COMMIT, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    ledger = Ledger(path)
    recorded = ledger.judgements_of_answer("a1")
    assert len(recorded) == 3
    engine = ScriptedEngine()
    again = GradingPipeline(engine, ledger=ledger).grade(QUESTION, answer())
    assert set(ids(again)) == {judgement.judgement_id for judgement in recorded}
    assert engine.graded == []
    assert kinds(ledger)["judgement"] == 3
    assert kinds(ledger)["submission"] == 1
    assert list(ledger.faults()) == []
    ledger.close()


def test_the_same_answer_at_once_from_two_services_is_one_record(path: Path) -> None:
    ledgers = [Ledger(path), Ledger(path)]
    pipelines = [GradingPipeline(ScriptedEngine(), ledger=ledger) for ledger in ledgers]
    with ThreadPoolExecutor(8) as pool:
        graded = list(pool.map(lambda n: pipelines[n % 2].grade(QUESTION, answer()), range(16)))
    assert len({tuple(ids(one)) for one in graded}) == 1
    assert len({one.filtered.created_at for one in graded}) == 1
    assert kinds(ledgers[0]) == {
        "question_version": 1,
        "submission": 1,
        "judgement": 3,
        "run": 16,
        "inclusion": 48,
    }
    assert list(ledgers[0].faults()) == []
    for ledger in ledgers:
        ledger.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_loses_no_acknowledged_grade(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"
    ledger = Ledger(path)
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    acknowledged: list[GradedAnswer] = []

    def fill_up() -> None:
        while len(acknowledged) < 1000:
            text = f"Tide {len(acknowledged)} {LONG}"
            graded = pipeline.grade(QUESTION, answer(text, f"a{len(acknowledged)}"))
            acknowledged.append(graded)

    with pytest.raises(LedgerError, match="make room on that disk"):
        fill_up()
    assert acknowledged
    for graded in acknowledged:
        assert ledger.judgement(graded.filtered.judgement_id) == graded.filtered
    ledger.close()

    moved = small_disk.parent / "moved.sqlite3"
    for name in small_disk.iterdir():
        shutil.copy(name, moved.with_name(name.name.replace("ledger", "moved")))
    ledger = Ledger(moved)
    assert list(ledger.faults()) == []
    assert kinds(ledger)["judgement"] == 3 * len(acknowledged)
    text = f"Tide {len(acknowledged)} {LONG}"
    GradingPipeline(ScriptedEngine(), ledger=ledger).grade(QUESTION, answer(text, "later"))
    ledger.close()


def test_a_clock_that_jumps_back_changes_no_order(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    texts = ("The Moon.", "The Moon pulls.")
    for year, text in zip((2031, 2001), texts, strict=True):
        monkeypatch.setattr("service.stages.datetime", frozen(year))
        monkeypatch.setattr("service.pipeline.datetime", frozen(year))
        pipeline.grade(QUESTION, answer(text))
    logged = ledger.after(0, 100)
    assert [one.seq for one in logged] == list(range(1, len(logged) + 1))
    first, second = (one.record for one in logged if isinstance(one.record, Submission))
    assert [first.text, second.text] == list(texts)
    assert second.previous == first.submission_id
    assert [run.started_at.year for run in ledger.latest_runs(2)] == [2001, 2031]
    filtered = [one for one in ledger.judgements_of_answer("a1") if one.stage == "filtered"]
    assert [one.created_at.year for one in filtered] == [2031, 2001]
    for run in ledger.latest_runs(2)[::-1]:
        ledger.publish(ledger.publication_plan(run.run_id), by="Prof. Ebb", reason="x")
    assert [grade.judgement for grade in ledger.published_grades("a1")] == filtered
    assert list(ledger.faults()) == []


def frozen(year: int) -> type[datetime]:
    class Frozen(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # noqa: ARG003
            return datetime(year, 1, 1, tzinfo=UTC)

    return Frozen
