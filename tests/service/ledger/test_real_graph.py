"""The whole way from a grade to a real graph, which was down, or lost what it had."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from service.errors import GraphUnreachableError
from service.graph import GraphStore, open_graph
from service.ledger import GraphShipper, Ledger
from service.pipeline import GradingPipeline
from service.records import Position
from service.settings import Settings
from tests.service.exam_world import QUESTION, answer, run
from tests.service.scripted_engine import ATTACK, ScriptedEngine

NEO4J = "STEADYEVAL_TEST_NEO4J"
ITEMS = [(QUESTION, answer(f"Tide {n}{ATTACK * (n % 2)}", f"a{n}", f"s{n}")) for n in range(4)]
COUNTS = """
MATCH (answer:Answer)<-[:OF]-(submission:Submission)<-[:JUDGES]-(judgement:Judgement)
OPTIONAL MATCH (judgement {stage: 'filtered'})-[based:BASED_ON]->(:Judgement {stage: 'filter'})
RETURN answer.answer_id AS answer_id, count(DISTINCT submission) AS submissions,
       count(judgement) AS judgements, count(based) AS based_on
ORDER BY answer_id
"""
COMPLETE = [(f"a{n}", 1, 3, 1) for n in range(4)]
RUNS = "MATCH (run:Run)-[included:INCLUDES]->() RETURN count(included) AS included"


@pytest.fixture(params=["embedded", "neo4j"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    if request.param == "embedded":
        return Settings(home=tmp_path, graph="embedded")
    if f"{NEO4J}_URI" not in os.environ:
        pytest.skip(f"{NEO4J}_URI is not set: there is no Neo4j to test with")
    settings = Settings(
        home=tmp_path,
        graph=os.environ[f"{NEO4J}_URI"],
        graph_user=os.environ.get(f"{NEO4J}_USER", "neo4j"),
        graph_password=os.environ.get(f"{NEO4J}_PASSWORD", "neo4j"),
        graph_database=os.environ.get(f"{NEO4J}_DATABASE", "neo4j"),
    )
    lose(settings)
    return settings


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    ledger = Ledger(settings.ledger_path)
    yield ledger
    ledger.close()


def lose(settings: Settings) -> None:
    """Throw away what is in the graph, which nobody has open."""
    if settings.graph == "embedded":
        shutil.rmtree(settings.graph_dir)
        return
    assert settings.graph_password
    user = settings.graph_user, settings.graph_password.get_secret_value()
    with (
        GraphDatabase.driver(settings.graph, auth=user) as driver,
        driver.session(database=settings.graph_database) as session,
    ):
        session.run("MATCH (n) DETACH DELETE n").consume()


def test_a_graph_that_comes_up_late_has_everything_once(ledger: Ledger, settings: Settings) -> None:
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    up = False

    def open_store() -> AbstractContextManager[GraphStore]:
        if not up:
            raise GraphUnreachableError("the graph is down")
        return open_graph(settings)

    with GraphShipper(ledger, open_store, "test") as shipper:
        pipeline.grade_many(ITEMS, run=run())
        assert not shipper.flush(0.1)
        up = True
        assert shipper.flush(120), shipper.last_error
        pipeline.grade_many(ITEMS, run=run())
        pipeline.grade_many(ITEMS, run=run("run-2"))
        assert shipper.flush(120), shipper.last_error
        with open_graph(settings) as graph:
            # The graph gets the whole ledger a second time.
            graph.write([Position(ledger.ledger_id, 0)])
            while graph.position(ledger.ledger_id).seq < ledger.last_seq():
                assert shipper.flush(120), shipper.last_error
            assert graph.query(COUNTS).rows == COMPLETE
            assert graph.query(RUNS).rows == [(24,)]


def test_a_graph_that_lost_everything_is_filled_again(ledger: Ledger, settings: Settings) -> None:
    GradingPipeline(ScriptedEngine(), ledger=ledger).grade_many(ITEMS, run=run())
    for _ in range(2):
        with GraphShipper(ledger, lambda: open_graph(settings), "test") as shipper:
            assert shipper.flush(120), shipper.last_error
            with open_graph(settings) as graph:
                assert graph.query(COUNTS).rows == COMPLETE
        lose(settings)
