"""`steadyeval privacy`, and a graph that follows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from service.cli.app import app
from service.engine.base import GradeCompletion, GradeRequest
from service.errors import ErasedError, InputError
from service.graph import GraphStore
from service.graph.comparison import differences
from service.graph.confirmed import confirmed_spans
from service.jobs import JobStore
from service.jobs.job import NewItem
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from tests.service.conftest import Server
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ATTACK, ScriptedEngine, by_length

SECRET = "Grandmother Philomena told me so."
ITEMS = [
    (QUESTION, answer(f"{SECRET}{ATTACK}", "a1", "ana")),
    (QUESTION, answer(f"The wind.{ATTACK}", "a2", "ben")),
]
WHO = ("--by", "registrar", "--why", "the student asked")


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Ledger]:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("STEADYEVAL_GRAPH", "none")
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    GradingPipeline(ScriptedEngine(), ledger=ledger).grade_many(ITEMS)
    yield ledger
    ledger.close()


def privacy(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["privacy", *arguments])


@pytest.mark.usefixtures("ledger")
def test_export_tells_everything_of_one_student() -> None:
    records = [json.loads(line) for line in privacy("export", "ana").stdout.splitlines()]
    assert [record["kind"] for record in records] == ["Submission", *["Judgement"] * 3]
    assert records[0]["text"] == ITEMS[0][1].text
    assert {record["student_id"] for record in records} == {"ana"}
    assert isinstance(privacy("export", "nobody").exception, InputError)
    assert isinstance(privacy("export", "ana", "--exam", "Winds").exception, InputError)


def test_erase_asks_and_then_does_it(ledger: Ledger) -> None:
    asked = privacy("erase", "ana", *WHO)
    assert asked.exit_code == 1
    assert "1 answer(s) in exam(s) 'Tides'" in asked.output
    assert "nothing was erased" in asked.output
    assert ledger.answers_with_texts("ana")
    done = privacy("erase", "ana", *WHO, "--yes")
    assert done.exit_code == 0, done.output
    assert ledger.answers_with_texts("ana") == []
    assert ledger.answers_with_texts("ben")
    assert isinstance(privacy("erase", "ana", *WHO, "--yes").exception, InputError)
    nameless = privacy("erase", "ben", "--by", " ", "--why", "x", "--yes")
    assert isinstance(nameless.exception, InputError)
    assert ledger.answers_with_texts("ben")


def test_erase_takes_what_waits_in_a_batch(ledger: Ledger, tmp_path: Path) -> None:
    with JobStore(tmp_path / "jobs.sqlite3", most_jobs=3) as jobs:
        jobs.create([NewItem(QUESTION, "a9", "cem", "unlabelled", SECRET)], None)
        assert "1 text(s) in batches" in privacy("erase", "cem", *WHO).output
        assert jobs.count_texts("cem", None) == 1
        assert privacy("erase", "cem", *WHO, "--yes").exit_code == 0
        assert jobs.count_texts("cem", None) == 0
    assert ledger.answers_with_texts("ana")


def test_erase_stops_what_a_batch_grades_at_that_moment(ledger: Ledger, tmp_path: Path) -> None:
    def grade(request: GradeRequest) -> GradeCompletion:
        assert privacy("erase", "cem", *WHO, "--yes").exit_code == 0
        return by_length(request)

    with JobStore(tmp_path / "jobs.sqlite3", most_jobs=3) as jobs:
        jobs.create([NewItem(QUESTION, "a9", "cem", "unlabelled", SECRET)], None)
    with pytest.raises(ErasedError):
        GradingPipeline(ScriptedEngine(grade, name="slow"), ledger=ledger).grade(
            QUESTION, answer(SECRET, "a9", "cem")
        )
    assert ledger.judgements_of_answer("a9") == []
    assert ledger.answers_with_texts("ana")


def test_expire_takes_what_is_old_enough(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = privacy("expire", "--older-than", "30", "--by", "registrar", "--yes")
    assert "no answer with texts is older than 30 days" in ran.output

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # noqa: ARG003
            return datetime(2100, 1, 1, tzinfo=UTC)

    monkeypatch.setattr("service.cli.privacy.datetime", Later)
    ran = privacy("expire", "--older-than", "30", "--by", "registrar", "--yes")
    assert "the texts of 2 answer(s) are erased" in ran.output
    assert ledger.answers_with_texts("ana") == ledger.answers_with_texts("ben") == []


def test_the_graph_follows(ledger: Ledger, store: GraphStore, server: Server) -> None:
    def fill(first_seq: int) -> None:
        store.write([logged.record for logged in ledger.after(first_seq, 1000)])

    def texts() -> str:
        return json.dumps(store.query("MATCH (n) RETURN properties(n)").rows, default=str)

    fill(0)
    server.run("MATCH (j:Judgement {stage: 'filter'}) SET j.spans_confirmed_by = 'somebody'")
    assert "Philomena" in texts()
    assert len(confirmed_spans(store)) == 2
    before = ledger.last_seq()
    privacy("erase", "ana", *WHO, "--yes")
    fill(before)
    for _ in range(2):
        assert "Philomena" not in texts()
        assert "The wind." in texts()
        assert list(differences(store, ledger, ledger.last_seq())) == []
        [confirmed] = confirmed_spans(store)
        assert confirmed.text == ITEMS[1][1].text
        # Shipped again from the start, nothing comes back.
        fill(0)


KEY = "0123456789abcdef" * 2


def test_records_of_a_pseudonym_are_found_by_id_and_by_pseudonym(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("STEADYEVAL_GRAPH", "none")
    assert "STEADYEVAL_PSEUDONYM_KEY_FILE" in str(privacy("pseudonym", "ana").exception)
    (tmp_path / "key").write_text(f"{KEY}\n", encoding="utf-8")
    monkeypatch.setenv("STEADYEVAL_PSEUDONYM_KEY_FILE", str(tmp_path / "key"))
    pseudonym = privacy("pseudonym", "ana").stdout.strip()
    with closing(Ledger(tmp_path / "ledger.sqlite3")) as ledger:
        pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
        pipeline.grade(QUESTION, answer(SECRET, "a1", pseudonym))
    exported = privacy("export", "ana").stdout
    assert exported == privacy("export", pseudonym).stdout
    assert pseudonym in exported
    assert '"ana"' not in exported
    assert privacy("erase", "ana", *WHO, "--yes").exit_code == 0
    assert SECRET not in privacy("export", "ana").stdout
