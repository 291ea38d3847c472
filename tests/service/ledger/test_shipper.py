from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from service.errors import GraphQueryError, GraphUnreachableError
from service.exam import Question
from service.ledger import GraphShipper, Ledger
from service.records import Record
from tests.service.exam_world import question

LONG = 20.0


class Graph:
    """A graph that is down, refuses, or crashes after its commit when a test wants it to."""

    def __init__(self) -> None:
        self.up = True
        self.refused: Record | None = None
        self.crash_after_commit = False
        self.written: list[Record] = []
        self.opened = 0
        self.arrived = Event()
        self.failed = Event()

    @contextmanager
    def open(self) -> Iterator[Graph]:
        self._check()
        self.opened += 1
        yield self

    def write(self, records: Sequence[Record]) -> None:
        self._check()
        if self.refused in records:
            self.failed.set()
            raise GraphQueryError("that is no record")
        self.written += records
        self.arrived.set()
        if self.crash_after_commit:
            self.crash_after_commit = False
            raise ConnectionError("the answer to the commit got lost")

    def _check(self) -> None:
        if not self.up:
            self.failed.set()
            raise GraphUnreachableError("nobody answers at bolt://nowhere")


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def shipper(ledger: Ledger, graph: Graph) -> Iterator[GraphShipper]:
    with GraphShipper(ledger, graph.open, "test") as shipper:
        yield shipper


def fill(ledger: Ledger, count: int, start: int = 0) -> list[Question]:
    questions = [question(f"q{number}") for number in range(start, start + count)]
    ledger.register_questions(questions)
    return questions


def test_everything_arrives_in_order_and_once(
    ledger: Ledger, graph: Graph, shipper: GraphShipper
) -> None:
    questions = fill(ledger, 1203)
    assert shipper.flush(LONG)
    questions += fill(ledger, 3, start=1203)
    assert shipper.flush(LONG)
    assert graph.written == questions
    assert (shipper.lag(), shipper.last_error) == (0, None)


@pytest.mark.usefixtures("shipper")
def test_what_is_recorded_arrives_without_being_asked_for(ledger: Ledger, graph: Graph) -> None:
    questions = fill(ledger, 2)
    assert graph.arrived.wait(LONG)
    assert graph.written == questions


def test_a_graph_that_was_down_catches_up(
    ledger: Ledger, graph: Graph, shipper: GraphShipper
) -> None:
    questions = fill(ledger, 3)
    assert shipper.flush(LONG)
    graph.up = False
    questions += fill(ledger, 700, start=3)
    assert graph.failed.wait(LONG)
    assert not shipper.flush(0.05)
    assert shipper.lag() == 700
    assert shipper.last_error == "nobody answers at bolt://nowhere"
    graph.up = True
    assert shipper.flush(LONG)
    assert graph.written == questions
    assert (shipper.lag(), shipper.last_error) == (0, None)


def test_a_restart_goes_on_where_the_last_one_stopped(ledger: Ledger, graph: Graph) -> None:
    questions = fill(ledger, 2)
    with GraphShipper(ledger, graph.open, "test") as first:
        assert first.flush(LONG)
    questions += fill(ledger, 2, start=2)
    with GraphShipper(ledger, graph.open, "test") as second:
        assert second.flush(LONG)
    assert graph.written == questions


def test_a_batch_whose_commit_is_in_doubt_is_sent_again(
    ledger: Ledger, graph: Graph, shipper: GraphShipper
) -> None:
    # The graph merges, so twice is once; never is what must not happen.
    graph.crash_after_commit = True
    questions = fill(ledger, 2)
    assert shipper.flush(LONG)
    assert graph.written == [*questions, *questions]


def test_a_refused_record_is_named_and_never_skipped(
    ledger: Ledger, graph: Graph, shipper: GraphShipper
) -> None:
    graph.refused = question("q5")
    questions = fill(ledger, 9)
    assert not shipper.flush(0.5)
    assert graph.failed.wait(LONG)
    assert graph.written == questions[:5]
    assert shipper.lag() == 4
    assert shipper.last_error == "the graph refused record 6 (Question): that is no record"
    graph.refused = None
    assert shipper.flush(LONG)
    assert graph.written == questions


def test_two_graphs_are_shipped_to_independently(ledger: Ledger, graph: Graph) -> None:
    questions, other = fill(ledger, 2), Graph()
    with (
        GraphShipper(ledger, graph.open, "test") as one,
        GraphShipper(ledger, other.open, "other") as two,
    ):
        assert one.flush(LONG)
        assert two.flush(LONG)
    assert graph.written == other.written == questions


def test_one_process_at_a_time_ships_and_the_next_takes_over(path: Path, graph: Graph) -> None:
    mine, theirs = Ledger(path), Ledger(path)
    first = GraphShipper(mine, graph.open, "test")
    first.start()
    questions = fill(mine, 2)
    assert first.flush(LONG)
    with GraphShipper(theirs, graph.open, "test") as second:
        questions += fill(theirs, 2, start=2)
        assert second.flush(LONG), "the first one ships it"
        assert graph.opened == 1
        first.stop()
        questions += fill(theirs, 2, start=4)
        assert second.flush(LONG), "the second one ships it"
    assert graph.written == questions
    mine.close()
    theirs.close()


def test_stopping_leaves_the_rest_for_the_next_start(ledger: Ledger, graph: Graph) -> None:
    graph.up = False
    shipper = GraphShipper(ledger, graph.open, "test")
    shipper.start()
    questions = fill(ledger, 2)
    assert graph.failed.wait(LONG)
    shipper.stop()
    graph.up = True
    assert graph.written == []
    shipper.start()
    assert shipper.flush(LONG)
    shipper.stop()
    assert graph.written == questions
