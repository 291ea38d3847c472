"""`steadyeval ledger` against a real graph."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from service.cli.app import app
from service.errors import GraphError, InputError, SettingsError
from service.graph import GraphStore
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from service.records import Position, RunKind
from tests.service.conftest import Server
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ATTACK, ScriptedEngine

ITEMS = [(QUESTION, answer(f"Tide {n}{ATTACK * (n % 2)}", f"a{n}", f"s{n}")) for n in range(3)]


@pytest.fixture
def ledger(
    store: GraphStore, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Ledger]:
    """A ledger with a published run and a second text, of the settings, whose graph is empty."""
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("STEADYEVAL_GRAPH", server.uri)
    monkeypatch.setenv("STEADYEVAL_GRAPH_USER", server.user)
    monkeypatch.setenv("STEADYEVAL_GRAPH_PASSWORD", server.password)
    monkeypatch.setenv("STEADYEVAL_GRAPH_DATABASE", server.database)
    monkeypatch.setenv("COLUMNS", "200")
    assert store.query("MATCH (n) RETURN count(n)").rows == [(0,)]
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    run = pipeline.new_run(RunKind.BATCH)
    pipeline.grade_many(ITEMS, run=run)
    pipeline.grade(QUESTION, answer("Tide 0 again", "a0", "s0"))
    ledger.publish(ledger.publication_plan(run.run_id), by="Prof. Ebb", reason="end of term")
    yield ledger
    ledger.close()


def steadyeval(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["ledger", *arguments], input=stdin)


def test_the_way_of_a_ledger_into_a_graph_and_back_to_it(
    ledger: Ledger, store: GraphStore, server: Server
) -> None:
    total, head = ledger.last_seq(), ledger.status().head

    shown = steadyeval("status")
    assert f"{total} records, head {head}" in shown.output
    assert f"has 0 records, {total} behind" in shown.output
    waiting = steadyeval("verify")
    assert waiting.exit_code == 0, waiting.output
    assert f"0 records in the graph, {total} more wait for it: good" in waiting.output

    assert steadyeval("replay").exit_code == 0
    assert store.position(ledger.ledger_id) == Position(ledger.ledger_id, total, head)
    assert f"has {total} records, 0 behind" in steadyeval("status").output
    good = steadyeval("verify")
    assert good.exit_code == 0, good.output
    assert f"{total} records in the graph: good" in good.output

    server.run("MATCH (j:Judgement {stage: 'baseline', answer_id: 'a1'}) DETACH DELETE j")
    bad = steadyeval("verify")
    assert bad.exit_code == 1
    [lost] = [j for j in ledger.judgements_of_answer("a1") if j.stage == "baseline"]
    assert f"judgement {lost.judgement_id}: the graph lacks it" in bad.output
    assert steadyeval("replay", "--from-start").exit_code == 0
    assert steadyeval("verify").exit_code == 0

    server.run("CREATE (:Judgement {judgement_id: 'forged', stage: 'filtered'})")
    assert "judgement forged: it is in the graph alone" in steadyeval("verify").output
    assert steadyeval("rebuild-graph", stdin="n\n").exit_code == 1
    assert "forged" in steadyeval("verify").output
    rebuilt = steadyeval("rebuild-graph", "--yes")
    assert rebuilt.exit_code == 0, rebuilt.output
    assert steadyeval("verify").exit_code == 0


def test_a_ledger_that_was_cut_off_is_found_out_by_its_graph(
    ledger: Ledger, store: GraphStore
) -> None:
    assert steadyeval("replay").exit_code == 0
    last = ledger.last_seq()
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("DELETE FROM grade_of_record WHERE row = 3")
        connection.execute("DELETE FROM log WHERE seq = ?", (last,))
    assert list(ledger.faults()) == []
    found = steadyeval("verify")
    assert found.exit_code == 1
    assert f"was sent {last} records of it, but it ends at {last - 1}" in found.output
    store.write([Position(ledger.ledger_id, last - 1, "another")])
    assert f"record {last - 1} is not the one that the graph was sent" in (
        steadyeval("verify").output
    )


def test_a_graph_of_several_ledgers_is_not_emptied(ledger: Ledger, store: GraphStore) -> None:
    store.write([Position("another ledger", 7)])
    assert steadyeval("replay").exit_code == 0
    assert steadyeval("verify").exit_code == 0
    ran = steadyeval("rebuild-graph", "--yes")
    assert isinstance(ran.exception, GraphError)
    assert store.position(ledger.ledger_id).seq == ledger.last_seq()


def test_a_changed_ledger_is_named_and_fails(ledger: Ledger) -> None:
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("UPDATE judgement SET predicted_score = 10 WHERE row = 2")
    ran = steadyeval("verify", "--graph", "none")
    assert ran.exit_code == 1
    assert "is not what was chained" in ran.output
    assert "1 fault(s)" in ran.output


def test_without_a_graph(ledger: Ledger) -> None:
    assert steadyeval("verify", "--graph", "none").exit_code == 0
    assert "no graph" in steadyeval("status", "--graph", "none").output
    assert isinstance(steadyeval("replay", "--graph", "none").exception, SettingsError)
    unreachable = steadyeval("status", "--graph", "bolt://127.0.0.1:1")
    assert unreachable.exit_code == 0
    assert "no graph server answers" in unreachable.output
    refused = steadyeval("replay", "--graph", "bolt://127.0.0.1:1")
    assert isinstance(refused.exception, GraphError)
    assert f"lacks {ledger.last_seq()} records" in str(refused.exception)


def test_without_a_ledger_none_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    assert isinstance(steadyeval("status").exception, InputError)
    assert list(tmp_path.iterdir()) == []
