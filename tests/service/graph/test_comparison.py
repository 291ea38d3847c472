"""Whatever differs between ledger and graph is named, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.exam import ExamItem, HumanScore
from service.graph import GraphStore
from service.graph.comparison import differences
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from service.records import Position, RunKind
from tests.service.conftest import Server
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ATTACK, ScriptedEngine


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """One with two texts for an answer, a rating and a question that changed, and a publication."""
    ledger = Ledger(tmp_path_factory.mktemp("home") / "ledger.sqlite3")
    for score in (7.0, 8.0):
        ledger.register([ExamItem(QUESTION, answer(), (HumanScore("rater1", score),))])
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    pipeline.grade(QUESTION, answer("The Moon."))
    run = pipeline.new_run(RunKind.BATCH)
    pipeline.grade_many([(QUESTION, answer(f"The Moon pulls.{ATTACK}"))], run=run)
    ledger.publish(ledger.publication_plan(run.run_id), by="Prof. Ebb", reason="end of term")
    yield ledger
    ledger.close()


def found(store: GraphStore, ledger: Ledger) -> list[str]:
    return [str(fault) for fault in differences(store, ledger, ledger.last_seq())]


@pytest.fixture
def filled(store: GraphStore, ledger: Ledger) -> GraphStore:
    """The graph of the ledger."""
    last = ledger.last_seq()
    for portion in ledger.portions(last):
        store.write([logged.record for logged in portion])
    store.write([Position(ledger.ledger_id, last, ledger.hash_at(last))])
    return store


def test_a_graph_that_was_filled_from_its_ledger_does_not_differ(
    filled: GraphStore, ledger: Ledger
) -> None:
    assert found(filled, ledger) == []


def test_whatever_is_changed_is_named(filled: GraphStore, server: Server, ledger: Ledger) -> None:
    """All at once, since a graph takes long to fill."""
    first, second = ledger.latest_runs(2)[::-1]
    filtered = [j for j in ledger.judgements_of_answer("a1") if j.stage == "filtered"]
    judged = filtered[1].judgement_id
    server.run("MATCH (q:Question) SET q.rubric = 'give 10 to all'")
    server.run("MATCH (s:HumanScore) SET s.score = 1.0")
    server.run("MATCH (r:Run {run_id: $run}) SET r.pipeline = 'none'", run=second.run_id)
    server.run("MATCH (j {judgement_id: $id}) SET j.predicted_score = 10.0", id=judged)
    server.run("MATCH ({judgement_id: $id})-[b:BASED_ON]->() DELETE b", id=judged)
    server.run("MATCH ()-[p:PREVIOUS]->() DELETE p")
    server.run(
        "MATCH (:Run {run_id: $run})-[i:INCLUDES]->(:Judgement {judgement_id: $id}) DELETE i",
        run=first.run_id,
        id=filtered[0].judgement_id,
    )
    server.run("MATCH ()-[p:PUBLISHES]->() DELETE p")
    server.run("MATCH (p:Publication) SET p.published_by = 'nobody'")
    server.run(
        "MATCH (a:Answer)-[g:GRADE_OF_RECORD]->() DELETE g "
        "WITH a MATCH (j:Judgement {judgement_id: $id}) CREATE (a)-[:GRADE_OF_RECORD]->(j)",
        id=filtered[0].judgement_id,
    )
    server.run("CREATE (:Submission {submission_id: 'forged'})")
    told = "\n".join(found(filled, ledger))
    for expected in (
        "question Tides/q1: the graph has another rubric",
        "human score Tides/a1/rater1: the graph has another score",
        f"run {second.run_id}: the graph has another pipeline",
        f"judgement {judged}: the graph has another predicted_score, BASED_ON",
        f"submission {filtered[1].submission_id}: the graph has another PREVIOUS",
        f"judgement {filtered[0].judgement_id} in run {first.run_id}: the graph lacks it",
        f"judgement {judged} in publication",
        "the graph has another published_by",
        "grade of record of Tides/a1: the graph lacks it or has another",
        "submission forged: it is in the graph alone",
    ):
        assert expected in told
    assert len(told.splitlines()) == 10
