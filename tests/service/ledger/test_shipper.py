from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Literal

import pytest

from service.errors import GraphQueryError, GraphUnreachableError
from service.exam import Question
from service.ledger import GraphShipper, Ledger
from service.records import Position, Record
from tests.service.exam_world import question

LONG = 20.0


class Graph:
    """A graph that is down, refuses, or crashes around its commit when a test wants it to."""

    def __init__(self) -> None:
        self.up = True
        self.refused: Record | None = None
        self.crash: Literal["before commit", "after commit"] | None = None
        self.written: list[Record] = []
        self.positions: dict[str, Position] = {}
        self.arrived = Event()
        self.failed = Event()

    @contextmanager
    def open(self) -> Iterator[Graph]:
        self._check()
        yield self

    def wipe(self) -> None:
        self.written, self.positions = [], {}

    def position(self, ledger_id: str) -> Position:
        self._check()
        return self.positions.get(ledger_id, Position(ledger_id, 0))

    def write(self, records: Sequence[Record | Position]) -> None:
        self._check()
        if self.refused in records:
            self.failed.set()
            raise GraphQueryError("that is no record")
        crash, self.crash = self.crash, None
        if crash == "before commit":
            raise ConnectionError("the commit got lost")
        for record in records:
            if isinstance(record, Position):
                self.positions[record.ledger_id] = record
            else:
                self.written.append(record)
        self.arrived.set()
        if crash == "after commit":
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
    assert str(shipper.last_error) == "nobody answers at bolt://nowhere"
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


@pytest.mark.parametrize("crash", ["before commit", "after commit"])
def test_a_batch_whose_commit_is_in_doubt_arrives_once(
    ledger: Ledger,
    graph: Graph,
    shipper: GraphShipper,
    crash: Literal["before commit", "after commit"],
) -> None:
    graph.crash = crash
    questions = fill(ledger, 2)
    assert shipper.flush(LONG)
    assert graph.written == questions


def test_a_graph_that_was_emptied_is_filled_from_the_start(
    ledger: Ledger, graph: Graph, shipper: GraphShipper
) -> None:
    questions = fill(ledger, 3)
    assert shipper.flush(LONG)
    graph.arrived.clear()
    graph.wipe()
    assert graph.arrived.wait(LONG)
    assert graph.written == questions


def test_a_ledger_that_was_put_back_from_a_copy_loses_nothing(ledger: Ledger, graph: Graph) -> None:
    questions = fill(ledger, 2)
    graph.positions[ledger.ledger_id] = Position(ledger.ledger_id, 1000)
    with GraphShipper(ledger, graph.open, "test") as shipper:
        assert shipper.flush(LONG)
        assert shipper.lag() == 0
    assert graph.written == questions


def test_a_ledger_that_went_another_way_since_its_copy_loses_nothing(
    ledger: Ledger, graph: Graph
) -> None:
    questions = fill(ledger, 3)
    graph.positions[ledger.ledger_id] = Position(ledger.ledger_id, 2, "of a record that is lost")
    with GraphShipper(ledger, graph.open, "test") as shipper:
        assert shipper.flush(LONG)
    assert graph.written == questions


def test_a_graph_that_an_earlier_release_filled_is_not_filled_again(
    ledger: Ledger, graph: Graph
) -> None:
    questions = fill(ledger, 3)
    graph.positions[ledger.ledger_id] = Position(ledger.ledger_id, 2)
    with GraphShipper(ledger, graph.open, "test") as shipper:
        assert shipper.flush(LONG)
    assert graph.written == questions[2:]


def test_what_another_ledger_wrote_into_the_graph_does_not_count(
    ledger: Ledger, graph: Graph, shipper: GraphShipper, tmp_path: Path
) -> None:
    other = Ledger(tmp_path / "other.sqlite3")
    theirs, mine = fill(other, 5), fill(ledger, 3, start=5)
    assert shipper.flush(LONG)
    with GraphShipper(other, graph.open, "test") as second:
        assert second.flush(LONG)
    assert graph.written == [*mine, *theirs]
    other.close()


def test_until_a_graph_was_asked_it_may_lack_everything(ledger: Ledger, graph: Graph) -> None:
    fill(ledger, 2)
    with GraphShipper(ledger, graph.open, "test") as first:
        assert first.flush(LONG)
    second = GraphShipper(ledger, graph.open, "test")
    assert second.lag() == 2
    with second:
        assert second.flush(LONG)
        assert second.lag() == 0


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
        assert graph.written == questions
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
