"""Transactions that come at once share a commit, and nothing else."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from service.errors import InputError, LedgerError, RecordConflictError
from service.ledger import Ledger
from service.ledger.database import Database
from service.ledger.group_commit import GroupCommit
from tests.service.engine.test_worker import wait_until
from tests.service.exam_world import QUESTION, answer, judgements, run, submission


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path, patience_s=0.2)
    yield database
    database.close()


def add(row: int) -> str:
    return f"INSERT INTO log (kind, row, hash) VALUES ('test', {row}, x'')"


def rows(database: Database) -> list[int]:
    with database.glancing() as connection:
        return [row for (row,) in connection.execute("SELECT row FROM log ORDER BY seq")]


def statements(database: Database) -> list[str]:
    """The statements that are executed from now on."""
    seen: list[str] = []
    with database.reading() as connection:
        connection.set_trace_callback(seen.append)
    return seen


class Crowd:
    """Threads whose work came while the first one's was under way."""

    def __init__(self, commits: GroupCommit) -> None:
        self.commits = commits
        self.began = threading.Event()
        self.go_on = threading.Event()

    def first(self, connection: sqlite3.Connection) -> str:
        connection.execute(add(0))
        self.began.set()
        assert self.go_on.wait(30)
        return "first"

    def second(self, number: int) -> int:
        def work(connection: sqlite3.Connection) -> int:
            connection.execute(add(number))
            if number % 3 == 0:
                raise RecordConflictError(f"not {number}")
            if number % 3 == 1:
                connection.execute("INSERT INTO nowhere VALUES (1)")
            return -number

        return self.commits.run(work)

    def come(self, count: int) -> dict[int, int | Exception]:
        with ThreadPoolExecutor(count + 1) as pool:
            first = pool.submit(self.commits.run, self.first)
            assert self.began.wait(30)
            others = {number: pool.submit(self.second, number) for number in range(1, count + 1)}
            wait_until(lambda: len(self.commits._waiting) == count)
            self.go_on.set()
            assert first.result() == "first"
            results: dict[int, int | Exception] = {}
            for number, other in others.items():
                error = other.exception()
                assert error is None or isinstance(error, Exception)
                results[number] = error or other.result()
            return results


def test_what_comes_during_a_commit_shares_the_next(database: Database) -> None:
    seen = statements(database)
    results = Crowd(GroupCommit(database)).come(9)
    assert seen.count("COMMIT") == 2
    assert {n for n, result in results.items() if result == -n} == {2, 5, 8}


def test_who_fails_takes_nobody_along_and_leaves_nothing(database: Database) -> None:
    results = Crowd(GroupCommit(database)).come(9)
    assert sorted(rows(database)) == [0, 2, 5, 8]
    for number in (3, 6, 9):
        assert isinstance(results[number], RecordConflictError)
        assert str(results[number]) == f"not {number}"
    for number in (1, 4, 7):
        assert isinstance(results[number], LedgerError)
        assert "nowhere" in str(results[number])


def test_a_commit_that_fails_fails_all_and_the_next_one_works(
    path: Path, database: Database
) -> None:
    commits = GroupCommit(database)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(commits.run, lambda c: c.execute(add(1))) for _ in range(4)]
            for call in calls:
                with pytest.raises(LedgerError, match="locked"):
                    call.result()
    assert rows(database) == []
    assert commits.run(lambda connection: connection.execute(add(2)).rowcount) == 1
    assert rows(database) == [2]


def test_a_transaction_that_sqlite_undid_is_undone_for_all(database: Database) -> None:
    commits = GroupCommit(database)
    crowd = Crowd(commits)

    def undo(connection: sqlite3.Connection) -> None:
        connection.execute(add(100))
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(commits.run, crowd.first)
        assert crowd.began.wait(30)
        second = pool.submit(crowd.second, 2)
        wait_until(lambda: len(commits._waiting) == 1)
        third = pool.submit(commits.run, undo)
        wait_until(lambda: len(commits._waiting) == 2)
        crowd.go_on.set()
        assert first.result() == "first"
        for call in (second, third):
            with pytest.raises(LedgerError, match="disk is full"):
                call.result()
    assert rows(database) == [0]


def test_a_text_that_no_file_can_keep_is_named(database: Database) -> None:
    with pytest.raises(InputError, match="Unicode"):
        GroupCommit(database).run(lambda connection: connection.execute("SELECT ?", ("\udc80",)))


def test_a_record_waits_for_the_disk_and_a_salt_only_for_its_record(path: Path) -> None:
    ledger = Ledger(path)
    seen = statements(ledger._database)
    ledger.admit([(QUESTION, answer())])
    ledger.record(run(), [QUESTION], [submission()], judgements())
    ledger.admit([(QUESTION, answer("more", "a2"))])
    ledger.register_questions([QUESTION])
    waits = [line for line in seen if line == "COMMIT" or line.startswith("PRAGMA synchronous")]
    assert waits == [
        line
        for level in ("NORMAL", "FULL", "NORMAL", "FULL")
        for line in (f"PRAGMA synchronous = {level}", "COMMIT")
    ]
    ledger.close()


def test_a_judgement_is_found_while_another_process_writes(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(run(), [QUESTION], [submission()], judgements())
    begun = threading.Event()
    with ledger._database.reading() as connection:
        connection.set_trace_callback(lambda _: begun.set())
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(target=ledger.admit, args=([(QUESTION, answer())],))
        writer.start()
        assert begun.wait(30)
        for judgement in judgements():
            assert ledger.find(judgement.judgement_id) == judgement
        assert ledger.find_result(judgements()[1].result_key("")) == judgements()[1]
        assert writer.is_alive()
        other.execute("ROLLBACK")
    writer.join()
    ledger.close()
