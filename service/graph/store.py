"""The graph over Bolt: connect, apply the schema, write records, ask questions."""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    Session,
    unit_of_work,
)
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    UnsupportedServerProduct,
)
from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime, Time

from service.errors import (
    GraphAuthError,
    GraphDatabaseError,
    GraphError,
    GraphQueryError,
    GraphUnreachableError,
    GraphVersionError,
)
from service.graph.statements import statements
from service.records import Position, Record
from service.resources import neo4j_dir

_OLDEST_NEO4J = 5
_TRANSACTION_SECONDS = 120.0
_LOST_RACES = 10
_POSITION = "MATCH (ledger:Ledger {ledger_id: $ledger_id}) RETURN ledger.seq, ledger.head"
_DELETE_SOME = "MATCH (n) WITH n LIMIT 5000 DETACH DELETE n RETURN count(*)"

# Without a handler Python prints the driver's warnings (a retry, an unknown label) to the
# terminal; an application that configures logging still gets them.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class QueryResult:
    """Columns and rows of a query, as plain Python values; times are in UTC.

    Where there are no rows, ArcadeDB names no columns.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class GraphStore:
    """One driver to one database; safe to share between threads. Close it, or use `with`.

    Attributes:
        uri: Bolt address of the server.
        database: the database on it.
        server: what the server says that it is, such as `Neo4j/5.26.30`.
    """

    def __init__(self, driver: Driver, uri: str, user: str, database: str) -> None:
        """Wrap a driver; callers use `connect`."""
        self._driver = driver
        self._user = user
        self.uri = uri
        self.database = database
        self.server = ""

    @classmethod
    def connect(cls, uri: str, user: str, password: str, database: str) -> GraphStore:
        """Open a store whose server, user and database have been checked.

        Raises:
            GraphUnreachableError: nothing answers at `uri`.
            GraphAuthError: user or password are refused.
            GraphDatabaseError: there is no such database.
            GraphVersionError: the server is older than Neo4j 5.
            GraphError: `uri` is no Bolt address.
        """
        try:
            _check_address(uri)
            driver = GraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=10.0,
                connection_acquisition_timeout=30.0,
                max_connection_lifetime=1800.0,
                liveness_check_timeout=30.0,
                max_transaction_retry_time=30.0,
            )
        except (ConfigurationError, ValueError) as error:
            raise GraphError(
                f"STEADYEVAL_GRAPH is no Bolt address: {error}; "
                "write `embedded`, `none`, or an address such as bolt://127.0.0.1:7687"
            ) from error
        store = cls(driver, uri, user, database)
        try:
            store._verify()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Give all connections back."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def apply_schema(self) -> None:
        """Create the constraints and indexes of neo4j/schema.cypher that are missing."""
        with self._session(WRITE_ACCESS) as session:
            for statement in _split((neo4j_dir() / "schema.cypher").read_text(encoding="utf-8")):
                session.execute_write(_run, statement)

    def write(self, records: Sequence[Record | Position]) -> None:
        """Merge the records, in their order, all of them or none; writing again adds nothing.

        Raises:
            GraphError: the graph did not take them; the same call may be made again.
        """
        for lost_races in range(1, _LOST_RACES + 1):
            try:
                self._write(records)
            except _RaceLostError:
                # Two writers created the same node at once. ArcadeDB refuses the second commit
                # where Neo4j would have let it wait; the node is there now, so merge again.
                time.sleep(random.uniform(0.02, 0.1) * lost_races)
            else:
                return
        self._write(records)

    def empty(self) -> Iterator[int]:
        """Delete all that is there, in portions; gives how many nodes each of them had.

        Raises:
            GraphError: the graph cannot be written.
        """
        while True:
            with self._session(WRITE_ACCESS) as session:
                deleted = session.execute_write(_delete_some)
            if not deleted:
                return
            yield deleted

    def position(self, ledger_id: str) -> Position:
        """How far the ledger of this name has been written here; 0 where nothing has been.

        Raises:
            GraphError: the graph cannot be asked.
        """
        found = self.query(_POSITION, {"ledger_id": ledger_id}).rows
        return Position(ledger_id, *found[0]) if found else Position(ledger_id, 0)

    def query(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> QueryResult:
        """Run a statement that only reads.

        Raises:
            GraphQueryError: the server refused the statement, or it would change the graph.
        """
        with self._session(READ_ACCESS) as session:
            return session.execute_read(_read, cypher, dict(parameters or {}))

    def _write(self, records: Sequence[Record | Position]) -> None:
        with self._session(WRITE_ACCESS) as session:
            # ArcadeDB has no Neo4j Browser, and gives no label to a node that is not committed.
            stage_labels = "ArcadeDB" not in self.server
            session.execute_write(_write, [*statements(records, stage_labels=stage_labels)])

    def _verify(self) -> None:
        with self._translated_errors():
            self.server = self._driver.get_server_info().agent
        version = re.search(r"Neo4j/v?(\d+)", self.server)
        if version and int(version[1]) < _OLDEST_NEO4J:
            raise GraphVersionError(
                f"{self.uri} is {self.server}, but Neo4j {_OLDEST_NEO4J} or newer is needed; "
                "upgrade the server or set STEADYEVAL_GRAPH to another one"
            )
        with self._session(READ_ACCESS) as session:
            session.run("RETURN 1").consume()

    @contextmanager
    def _session(self, access: str) -> Iterator[Session]:
        with (
            self._translated_errors(),
            self._driver.session(database=self.database, default_access_mode=access) as session,
        ):
            yield session

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (Neo4jError, DriverError) as error:
            raise self._translate(error) from error

    def _translate(self, error: Neo4jError | DriverError) -> GraphError:
        code = (error.code or "") if isinstance(error, Neo4jError) else ""
        reason = (error.message if isinstance(error, Neo4jError) else None) or str(error)
        match error:
            case AuthError() | Neo4jError() if ".Security." in code:
                return GraphAuthError(
                    f"{self.uri} refused user {self._user!r}: {reason}; check "
                    "STEADYEVAL_GRAPH_USER and STEADYEVAL_GRAPH_PASSWORD (or …_PASSWORD_FILE)"
                )
            case Neo4jError() if ".Database." in code:
                return GraphDatabaseError(
                    f"{self.uri} has no usable database {self.database!r}: {reason}; "
                    "check STEADYEVAL_GRAPH_DATABASE"
                )
            case ConstraintError():
                return _RaceLostError(f"{self.uri} refused a record: {reason}")
            case Neo4jError() if error.is_retryable():
                return GraphError(f"{self.uri} could not do it now, try again ({code}): {reason}")
            case Neo4jError():
                return GraphQueryError(f"{self.uri} refused a statement ({code}): {reason}")
            case UnsupportedServerProduct():
                return GraphVersionError(
                    f"{self.uri} speaks no Bolt that Neo4j {_OLDEST_NEO4J} or newer speaks "
                    f"({reason}); upgrade the server or set STEADYEVAL_GRAPH to another one"
                )
            case ServiceUnavailable() | SessionExpired():
                return GraphUnreachableError(
                    f"no graph server answers at {self.uri} ({reason}); "
                    "start it, or check STEADYEVAL_GRAPH"
                )
            case _:
                return GraphError(f"{self.uri}: {reason}")


class _RaceLostError(GraphError):
    """Another writer committed the same new node first."""


@unit_of_work(timeout=_TRANSACTION_SECONDS)
def _run(transaction: ManagedTransaction, statement: str) -> None:
    transaction.run(statement).consume()


@unit_of_work(timeout=_TRANSACTION_SECONDS)
def _write(
    transaction: ManagedTransaction, written: Sequence[tuple[str, list[dict[str, Any]]]]
) -> None:
    for cypher, rows in written:
        transaction.run(cypher, rows=rows).consume()


@unit_of_work(timeout=_TRANSACTION_SECONDS)
def _delete_some(transaction: ManagedTransaction) -> int:
    (count,) = transaction.run(_DELETE_SOME).single(strict=True)
    return int(count)


@unit_of_work(timeout=_TRANSACTION_SECONDS)
def _read(transaction: ManagedTransaction, cypher: str, parameters: dict[str, Any]) -> QueryResult:
    result = transaction.run(cypher, parameters)
    columns = tuple(result.keys())
    rows = [tuple(map(_plain, record.values())) for record in result]
    # ArcadeDB lets a read transaction write; raising rolls it back.
    if result.consume().counters.contains_updates:
        raise GraphQueryError("the statement would change the graph; only reading is allowed here")
    return QueryResult(columns, rows)


def _check_address(uri: str) -> None:
    address = urlsplit(uri)
    if address.scheme.partition("+")[0] not in ("bolt", "neo4j") or not address.hostname:
        raise ValueError("it does not begin with bolt:// or neo4j:// and a host")
    if address.username is not None:
        raise ValueError("the user belongs in STEADYEVAL_GRAPH_USER, the password in …_PASSWORD")
    _ = address.port  # ValueError where it is no number


def _split(script: str) -> list[str]:
    """The statements of a Cypher file."""
    code = "\n".join(line for line in script.splitlines() if not line.startswith("//"))
    return [statement.strip() for statement in code.split(";") if statement.strip()]


def _plain(value: Any) -> Any:
    # `Record.data` gives almost the same, but takes longer than all the rest of reading an answer.
    match value:
        case None | str() | int() | float():
            return value
        case DateTime():
            return _in_utc(value.to_native())
        case Date() | Time():
            return value.to_native()
        case dict() | Node():
            return {name: _plain(item) for name, item in value.items()}
        case Relationship():
            return [_plain(value.start_node), value.type, _plain(value.end_node)]
        case Path():
            # Its nodes, and the names of the relationships between them.
            first, *others = value.nodes
            steps = zip(value.relationships, others, strict=True)
            return [
                _plain(first),
                *(part for step, node in steps for part in (step.type, _plain(node))),
            ]
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value


def _in_utc(moment: datetime) -> datetime:
    # ArcadeDB gives the time of a whole node back without its zone, which is UTC.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
