"""The whole way from a grade to the embedded graph, which was down at first."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from service.errors import GraphUnreachableError
from service.graph import GraphStore, open_graph
from service.ledger import GraphShipper, Ledger
from service.pipeline import GradingPipeline
from service.settings import Settings
from tests.service.exam_world import QUESTION, answer, run
from tests.service.scripted_engine import ATTACK, ScriptedEngine

COUNTS = """
MATCH (answer:Answer)<-[:OF]-(submission:Submission)<-[:JUDGES]-(judgement:Judgement)
OPTIONAL MATCH (judgement {stage: 'filtered'})-[based:BASED_ON]->(:Judgement {stage: 'filter'})
RETURN answer.answer_id AS answer_id, count(DISTINCT submission) AS submissions,
       count(judgement) AS judgements, count(based) AS based_on
ORDER BY answer_id
"""
RUNS = "MATCH (run:Run)-[included:INCLUDES]->() RETURN count(included) AS included"


def test_a_graph_that_comes_up_late_has_everything_once(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, graph="embedded")
    ledger = Ledger(settings.ledger_path)
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    items = [(QUESTION, answer(f"Tide {n}{ATTACK * (n % 2)}", f"a{n}", f"s{n}")) for n in range(4)]
    up = False

    def open_store() -> AbstractContextManager[GraphStore]:
        if not up:
            raise GraphUnreachableError("the graph is down")
        return open_graph(settings)

    with GraphShipper(ledger, open_store, "embedded") as shipper:
        pipeline.grade_many(items, run=run())
        assert not shipper.flush(0.1)
        up = True
        assert shipper.flush(120), shipper.last_error
        pipeline.grade_many(items, run=run())
        pipeline.grade_many(items, run=run("run-2"))
        assert shipper.flush(120), shipper.last_error
        # The graph gets the whole ledger a second time, as after a lost cursor.
        ledger.mark_shipped("embedded", 0)
        assert shipper.flush(120), shipper.last_error
        with open_graph(settings) as graph:
            counts = [tuple(row) for row in graph.query(COUNTS).rows]
            [[included]] = graph.query(RUNS).rows
    assert counts == [(f"a{n}", 1, 3, 1) for n in range(4)]
    assert included == 24
    ledger.close()
