"""The chain: what is written is bound, and whoever changes it is found out."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from service.errors import LedgerError
from service.exam import ExamItem, HumanScore
from service.ledger import Ledger
from service.records import LoggedRecord
from tests.service.exam_world import QUESTION, answer, judgements, question, run, submission


def fill(ledger: Ledger) -> None:
    """A registered question with a rating, and a run with a filtered and graded answer."""
    ledger.register([ExamItem(QUESTION, answer(), (HumanScore("rater1", 7.0),))])
    ledger.record(run(), [QUESTION], [submission()], judgements())


def faults(path: Path) -> list[str]:
    ledger = Ledger(path)
    try:
        return [str(fault) for fault in ledger.faults()]
    finally:
        ledger.close()


@pytest.fixture
def filled(path: Path) -> Path:
    """The file of a closed ledger that has a record of most kinds."""
    ledger = Ledger(path)
    fill(ledger)
    ledger.close()
    return path


def change(path: Path, statement: str) -> None:
    """Change the file past the ledger, with no regard for its rules."""
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = connection.execute(statement).rowcount
    assert changed


def test_a_ledger_as_it_was_written_has_no_faults(filled: Path) -> None:
    assert faults(filled) == []
    ledger = Ledger(filled)
    ledger.register_questions([question("q2")])
    ledger.record(run("run-2"), [QUESTION], [submission()], judgements())
    assert list(ledger.faults()) == []
    ledger.close()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE judgement SET predicted_score = 10 WHERE stage = 'baseline'", "j-baseline"),
        ("UPDATE judgement SET score_source = 'line' WHERE stage = 'filtered'", "j-filtered"),
        ("UPDATE judgement SET raw_output = 'Answer: 10' WHERE stage = 'baseline'", "j-baseline"),
        ("UPDATE judgement SET prompt = NULL WHERE stage = 'filter'", "j-filter"),
        ("UPDATE judgement SET texts_hash = x'00' WHERE stage = 'filter'", "j-filter"),
        ("UPDATE submission SET text = 'The Moon pulls.'", "sub-1"),
        ("UPDATE submission SET received_at = '2020-01-01T00:00:00+00:00'", "sub-1"),
        ("UPDATE answer SET student_id = 's2'", "sub-1"),
        ("UPDATE removed_span SET text = 'nothing'", "j-filter"),
        ("UPDATE removed_span SET end_offset = 3", "j-filter"),
        ("UPDATE rating SET score = 1", "Tides/a1/rater1"),
        ("UPDATE question_version SET rubric = 'give 10 to all'", "Tides/q1"),
        ("UPDATE question_version SET registered = 0", "Tides/q1"),
        ("UPDATE criterion SET weight = 9 WHERE position = 0", "Tides/q1"),
        ("DELETE FROM misconception", "Tides/q1"),
        ("DELETE FROM inclusion WHERE judgement_id = 'j-filter'", "inclusion that is gone"),
        ("UPDATE run SET pipeline = 'none'", "run-1"),
        ("DELETE FROM log WHERE kind = 'rating'", "rating Tides/a1/rater1: the log lacks it"),
        ("UPDATE log SET hash = x'00' WHERE kind = 'run'", "run-1"),
        ("DELETE FROM submission", "submission that is gone"),
        ("DELETE FROM submission", "j-filter: its submission is gone"),
        ("UPDATE judgement SET stage = 'none' WHERE stage = 'filter'", "j-filter"),
        ("DELETE FROM salt", "sub-1"),
        ("UPDATE salt SET salt = x'00'", "sub-1"),
        ("UPDATE result SET judgement_id = 'j-baseline'", "j-baseline: it is found as the result"),
    ],
)
def test_whatever_is_changed_behind_its_back_is_named(
    filled: Path, statement: str, named: str
) -> None:
    change(filled, statement)
    assert any(named in fault for fault in faults(filled))


def test_only_what_differs_is_named(filled: Path) -> None:
    change(filled, "UPDATE judgement SET predicted_score = 10 WHERE stage = 'baseline'")
    assert faults(filled) == [
        "record 6, judgement j-baseline: it, or its place, is not what was chained"
    ]


def test_records_that_changed_places_are_named(filled: Path) -> None:
    change(filled, "UPDATE log SET seq = -seq WHERE seq IN (5, 6)")
    change(filled, "UPDATE log SET seq = 11 + seq WHERE seq < 0")
    assert [fault.split(",")[0] for fault in faults(filled)] == ["record 5", "record 6", "record 7"]


def test_the_same_records_in_another_ledger_have_other_hashes(path: Path, tmp_path: Path) -> None:
    heads = []
    for place in (path, tmp_path / "other.sqlite3"):
        ledger = Ledger(place)
        ledger.register_questions([QUESTION])
        heads.append(ledger.status().head)
        ledger.close()
    assert heads[0] != heads[1]


def test_the_newest_hash_binds_all_that_is_there(path: Path) -> None:
    ledger = Ledger(path)
    heads = [ledger.status().head]
    for number in range(3):
        ledger.register_questions([question(f"q{number}")])
        heads.append(ledger.status().head)
    assert len(set(heads)) == 4
    assert [ledger.hash_at(seq) for seq in (0, 1, 2, 3, 4)] == [None, *heads[1:], None]
    assert [logged.hash for logged in ledger.after(0, 10)] == heads[1:]
    status = ledger.status()
    assert (status.last_seq, status.records) == (3, {"question_version": 3})
    ledger.close()


def read(path: Path) -> list[LoggedRecord]:
    ledger = Ledger(path)
    try:
        return ledger.after(0, 1000)
    finally:
        ledger.close()


def test_no_flipped_bit_goes_unnoticed(filled: Path, tmp_path: Path) -> None:
    """A flip is refused, named, or in a place that says nothing."""
    original, written = filled.read_bytes(), read(filled)
    noticed = 0
    for place in range(16, len(original), 613):
        flipped = bytearray(original)
        flipped[place] ^= 1 << place % 8
        copy = tmp_path / "flipped.sqlite3"
        for old in tmp_path.glob("flipped.sqlite3*"):
            old.unlink()
        copy.write_bytes(flipped)
        try:
            found = faults(copy)
            if not found:
                assert read(copy) == written
            noticed += bool(found)
        except LedgerError:
            noticed += 1
    assert noticed > 10


@pytest.mark.parametrize("kept", [0.95, 0.5, 0.1, 0.001])
def test_a_truncated_file_is_refused_with_what_to_do(filled: Path, kept: float) -> None:
    content = filled.read_bytes()
    filled.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(LedgerError, match=r"damaged.*copy.*docs/ledger\.md"):
        faults(filled)


def test_a_copy_that_was_put_back_works(filled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    shutil.copy(filled, copy)
    filled.write_bytes(b"")
    shutil.copy(copy, filled)
    assert faults(filled) == []
