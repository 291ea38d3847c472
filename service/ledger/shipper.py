"""From the ledger to the graph, in order, however long the graph was down."""

from __future__ import annotations

import fcntl
import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Condition, Thread
from time import monotonic
from types import TracebackType
from typing import Protocol, Self

from service.errors import GraphError, GraphQueryError
from service.ledger.ledger import Ledger
from service.records import Position, Record

_log = logging.getLogger(__name__)

_BATCH = 500
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 30.0
_POLL_S = 2.0


class GraphWriter(Protocol):
    """The part of a graph store that takes records."""

    def position(self, ledger_id: str) -> Position:
        """How far the ledger of this name has been written here; 0 where nothing has been."""

    def write(self, records: Sequence[Record | Position]) -> None:
        """Write records in one transaction; what is there already stays as it is."""


def reached_seq(ledger: Ledger, position: Position) -> int:
    """How many of the ledger's records a graph at `position` has.

    None where the ledger was put back from a copy: it is behind its graph then, or went another
    way since, and the graph must be filled again.
    """
    if position.seq > ledger.last_seq():
        return 0
    # Graphs of earlier versions know no hash.
    known = position.head in (None, ledger.hash_at(position.seq))
    return position.seq if known else 0


class GraphShipper:
    """A thread that carries the ledger's records to a graph.

    The position that the ledger has reached stands in the graph, written in one transaction
    with the records, and is read before every batch: a crash anywhere leaves none out, and a
    graph that is new, or was emptied, is filled from the start. A record that the graph refuses
    is never skipped: the thread stays at it and `last_error` names it. One process at a time
    ships to a graph, so that an old batch never lands on a newer one.
    """

    def __init__(
        self,
        ledger: Ledger,
        open_store: Callable[[], AbstractContextManager[GraphWriter]],
        graph: str,
    ) -> None:
        """Prepare to ship; `start` begins.

        Args:
            ledger: where the records are.
            open_store: connects to the graph; called again after every failure.
            graph: name of the graph, which processes that ship to it share.
        """
        self._ledger = ledger
        self._open_store = open_store
        self._graph = graph
        self._reached = 0
        self._batch = _BATCH
        self._pause_s = _FIRST_PAUSE_S
        self._last_error: str | None = None
        self._stopping = False
        self._hurry = False
        self._news = False
        self._changed = Condition()
        self._thread: Thread | None = None
        ledger.subscribe(self.wake)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to ship in the background."""
        self._stopping = False
        self._thread = Thread(target=self._run, name="graph-shipper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the batch at hand and end; what is left is shipped after the next start."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def wake(self) -> None:
        """Say that there are new records. The ledger does so for those of this process."""
        with self._changed:
            self._news = True
            self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Wait until the graph has all that is in the ledger now; False if it takes too long."""
        target = self._ledger.last_seq()
        deadline = monotonic() + timeout_s
        with self._changed:
            while self._reached < target:
                left = deadline - monotonic()
                if left <= 0:
                    return False
                self._hurry = True
                self._changed.notify_all()
                # Another process may be the one that ships: look, even if nobody calls.
                self._changed.wait(min(left, _POLL_S))
        return True

    def lag(self) -> int:
        """How many records the graph is not known to have; all, until it could be asked."""
        return self._ledger.last_seq() - self._reached

    @property
    def last_error(self) -> str | None:
        """Why the graph does not take records at the moment; None while it does."""
        return self._last_error

    def _run(self) -> None:
        while not self._stopping:
            try:
                with self._open_store() as store:
                    # Before the turn: `flush` waits for what another process ships, too.
                    self._look(store)
                    with turn(self._ledger, self._graph):
                        self._ship(store)
            except Exception as error:
                # Whatever it is, the records are safe in the ledger and the thread must live.
                self._failed(error)
                self._wait(self._pause_s, lambda: self._hurry)
                self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)

    def _ship(self, store: GraphWriter) -> None:
        """Ship what comes until told to stop."""
        while not self._stopping:
            self._news = False
            self._look(store)
            records = self._ledger.after(self._reached, self._batch)
            if records:
                newest = records[-1]
                position = Position(self._ledger.ledger_id, newest.seq, newest.hash)
                try:
                    store.write([*(logged.record for logged in records), position])
                except GraphQueryError as error:
                    if len(records) > 1:
                        # One at a time, all that stand before the refused record get through.
                        self._batch = 1
                        continue
                    kind = type(records[0].record).__name__
                    raise GraphQueryError(
                        f"the graph refused record {records[0].seq} ({kind}): {error}"
                    ) from error
                self._reached = position.seq
                self._batch = min(self._batch * 2, _BATCH)
            self._succeeded()
            if not records:
                self._wait(_POLL_S, lambda: self._news or self._hurry)

    def _look(self, store: GraphWriter) -> None:
        """Ask the graph how far it is."""
        reached = reached_seq(self._ledger, store.position(self._ledger.ledger_id))
        with self._changed:
            self._reached = reached
            self._changed.notify_all()

    def _wait(self, timeout_s: float, until: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or until(), timeout_s)
            self._hurry = False

    def _succeeded(self) -> None:
        with self._changed:
            self._pause_s = _FIRST_PAUSE_S
            self._last_error = None
            self._changed.notify_all()

    def _failed(self, error: Exception) -> None:
        text = str(error) or type(error).__name__
        if text != self._last_error:
            _log.warning("records wait for graph %s: %s", self._graph, text)
        self._last_error = text


@contextmanager
def turn(ledger: Ledger, graph: str) -> Iterator[None]:
    """The right to ship from a ledger to a graph, which one process has at a time.

    Raises:
        GraphError: another one has it.
    """
    name = hashlib.sha256(graph.encode("utf-8")).hexdigest()[:12]
    path = Path(f"{ledger.path}-{name}.lock")
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GraphError("another process ships to this graph") from None
        yield
