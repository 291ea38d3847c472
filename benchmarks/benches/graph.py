"""Writing and asking a graph that holds many exams."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.bench import Measured
from benchmarks.measure import race
from benchmarks.plan import Plan
from benchmarks.results import Asked, Row
from benchmarks.synthetic_records import (
    ANSWERS_OF_EXAM,
    JUDGEMENTS_OF_ANSWER,
    graded_exam,
)
from service.errors import GraphError
from service.graph import GraphStore
from service.graph.embedded import EmbeddedGraph
from service.graph.queries import Query, documented_queries
from service.records import Record

TITLE = "graph writes and audit queries"
ABOUT = f"""\
Made-up exams of {ANSWERS_OF_EXAM} answers, one in five attacked, written as the ledger ships them
(transactions of some hundred records), the whole in five parts; then each documented query with its
defaults, of one exam and of all. The embedded graph, and the Neo4j of STEADYEVAL_TEST_NEO4J_URI,
which has to be empty."""

_NEO4J = "STEADYEVAL_TEST_NEO4J"
_ANSWERS_OF_TRANSACTION = 62  # Eight records each: like the shipper's 500 records.
_PARTS = 5
_ASKED = Asked(kind="at most", limit=1000.0)


@dataclass(frozen=True)
class _Asking:
    seconds: float
    rows: int


def run(plan: Plan) -> Measured:
    """Measure the embedded graph, and Neo4j where there is one."""
    sizes = plan.sizes
    rows: list[Row] = []
    skipped: list[str] = []
    with TemporaryDirectory() as home, EmbeddedGraph(Path(home) / "graph").open() as store:
        rows += _measure(store, "embedded", sizes.judgements, sizes.rounds, skipped)
    with _neo4j(skipped) as neo4j:
        if neo4j is not None:
            rows += _measure(neo4j, neo4j.server, sizes.judgements, sizes.rounds, skipped)
    return Measured(tuple(rows), tuple(skipped))


@contextmanager
def _neo4j(skipped: list[str]) -> Iterator[GraphStore | None]:
    uri = os.environ.get(f"{_NEO4J}_URI")
    if uri is None:
        skipped.append(f"Neo4j: {_NEO4J}_URI is not set")
        yield None
        return
    user, password, database = (
        os.environ.get(f"{_NEO4J}_{name}", "neo4j") for name in ("USER", "PASSWORD", "DATABASE")
    )
    with GraphStore.connect(uri, user, password, database) as store:
        if store.query("MATCH (n) RETURN n LIMIT 1").rows:
            skipped.append(f"Neo4j: the graph at {uri} is not empty, and none is emptied here")
            yield None
        else:
            yield store


def _measure(
    store: GraphStore, server: str, judgements: int, rounds: int, skipped: list[str]
) -> Iterator[Row]:
    store.apply_schema()
    count = -(-judgements // JUDGEMENTS_OF_ANSWER)
    case = f"{server}, {count * JUDGEMENTS_OF_ANSWER:,} Judgements"
    yield Row(case=case, what="write", unit="Judgements/s", samples=tuple(_fill(store, count)))
    yield from _ask(store, case, rounds, skipped)


def _fill(store: GraphStore, answers: int) -> Iterator[float]:
    """Write exams of so many answers; how many Judgements a second each part of them took."""
    written, seconds = 0, 0.0
    for records, count in _transactions(answers):
        began = perf_counter()
        store.write(records)
        seconds += perf_counter() - began
        written += count
        if written * _PARTS >= answers:
            yield written * JUDGEMENTS_OF_ANSWER / seconds
            written, seconds = 0, 0.0
    if written:
        yield written * JUDGEMENTS_OF_ANSWER / seconds


def _transactions(answers: int) -> Iterator[tuple[list[Record], int]]:
    """Records that are written together, and the answers among them."""
    for number, first in enumerate(range(0, answers, ANSWERS_OF_EXAM)):
        exam = graded_exam(number, min(ANSWERS_OF_EXAM, answers - first))
        waiting = list(exam.shared)
        for start in range(0, len(exam.answers), _ANSWERS_OF_TRANSACTION):
            portion = exam.answers[start : start + _ANSWERS_OF_TRANSACTION]
            yield [*waiting, *chain.from_iterable(portion)], len(portion)
            waiting = []


def _ask(store: GraphStore, case: str, rounds: int, skipped: list[str]) -> Iterator[Row]:
    one = {"exam_id": "exam-0"}
    answer = {"answer_id": "a5"}
    for name, path in documented_queries().items():
        query = Query.parse(path.read_text(encoding="utf-8"))
        named = answer if "answer_id" in query.defaults else {}
        for scope, parameters in (("one exam", {**one, **named}), ("all exams", named)):
            try:
                [runs] = race({name: partial(_timed, query, store, parameters)}, rounds).values()
            except GraphError as error:
                skipped.append(f"{case}: {name}, {scope}: {error}")
                continue
            yield Row(
                case=case,
                what=f"{name}, {scope}, {runs[0].rows:,} rows",
                unit="ms",
                samples=tuple(each.seconds * 1000 for each in runs),
                asked=_ASKED,
            )


def _timed(query: Query, store: GraphStore, parameters: Mapping[str, str]) -> _Asking:
    began = perf_counter()
    found = query.run(store, parameters)
    return _Asking(perf_counter() - began, len(found.rows))
