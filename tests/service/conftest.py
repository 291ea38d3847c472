"""Graph servers for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from neo4j import GraphDatabase

from service.graph import GraphStore
from service.graph.embedded import EmbeddedGraph

NEO4J = "STEADYEVAL_TEST_NEO4J"


@dataclass(frozen=True)
class Server:
    """A graph server for tests; what is in it may be thrown away."""

    uri: str
    user: str
    password: str
    database: str

    def connect(self) -> GraphStore:
        return GraphStore.connect(self.uri, self.user, self.password, self.database)

    def run(self, cypher: str, **parameters: object) -> list[dict[str, object]]:
        """Run any statement, also one that writes, past the store."""
        with (
            GraphDatabase.driver(self.uri, auth=(self.user, self.password)) as driver,
            driver.session(database=self.database) as session,
        ):
            return session.run(cypher, parameters).data()


@pytest.fixture(scope="session")
def embedded_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedGraph]:
    embedded = EmbeddedGraph(tmp_path_factory.mktemp("home") / "graph")
    embedded.up()
    yield embedded
    embedded.down()


@pytest.fixture(scope="session", params=["embedded", "neo4j"])
def server(request: pytest.FixtureRequest) -> Server:
    if request.param == "embedded":
        embedded: EmbeddedGraph = request.getfixturevalue("embedded_graph")
        state = embedded.running()
        assert state
        password = (embedded.home / "password").read_text()
        return Server(state.uri, "root", password, "steadyeval")
    if f"{NEO4J}_URI" not in os.environ:
        pytest.skip(f"{NEO4J}_URI is not set: there is no Neo4j to test with")
    return Server(
        os.environ[f"{NEO4J}_URI"],
        os.environ.get(f"{NEO4J}_USER", "neo4j"),
        os.environ.get(f"{NEO4J}_PASSWORD", "neo4j"),
        os.environ.get(f"{NEO4J}_DATABASE", "neo4j"),
    )


@pytest.fixture
def store(server: Server) -> Iterator[GraphStore]:
    """A store on an empty graph with the schema applied."""
    server.run("MATCH (n) DETACH DELETE n")
    with server.connect() as store:
        store.apply_schema()
        yield store
