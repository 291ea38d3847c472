from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from service.errors import (
    GraphAuthError,
    GraphDatabaseError,
    GraphError,
    GraphUnreachableError,
    GraphVersionError,
)
from service.graph import GraphStore, open_graph
from service.settings import Settings
from tests.service.graph.conftest import Server


def test_a_wrong_password_is_said(server: Server) -> None:
    with pytest.raises(GraphAuthError, match="STEADYEVAL_GRAPH_PASSWORD"):
        GraphStore.connect(server.uri, server.user, "not the password", server.database)


def test_a_wrong_database_is_said(server: Server) -> None:
    with pytest.raises(GraphDatabaseError, match=r"'nowhere'.*STEADYEVAL_GRAPH_DATABASE"):
        GraphStore.connect(server.uri, server.user, server.password, "nowhere")


def test_the_settings_lead_to_the_server(server: Server) -> None:
    settings = Settings(
        graph=server.uri,
        graph_user=server.user,
        graph_password=server.password,  # type: ignore[arg-type]  # pydantic makes it a secret
        graph_database=server.database,
    )
    with open_graph(settings) as store:
        assert store.query("RETURN 1 AS one").rows == [(1,)]
        assert store.server.startswith("Neo4j/5.26")


def test_no_graph_is_said(settings: Settings) -> None:
    with (
        pytest.raises(GraphError, match="`none`"),
        open_graph(settings.model_copy(update={"graph": "none"})),
    ):
        pytest.fail("opened no graph")


@pytest.fixture
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(home=tmp_path_factory.mktemp("home"))


def test_an_unreachable_port_is_said() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        uri = f"bolt://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(GraphUnreachableError, match=uri):
            GraphStore.connect(uri, "neo4j", "password", "neo4j")


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:7474",
        "localhost",
        "bolt://",
        "bolt://127.0.0.1:port",
        "bolt://127.0.0.1:99999",
        "bolt://neo4j:hidden@127.0.0.1:7687",
    ],
)
def test_an_address_that_is_none_is_said(uri: str) -> None:
    with pytest.raises(GraphError, match="no Bolt address") as raised:
        GraphStore.connect(uri, "neo4j", "password", "neo4j")
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize("agent", ["Neo4j/4.4.41", "Neo4j/4.4-aura"])
def test_an_older_server_is_said(agent: str) -> None:
    with (
        bolt_server(b"\x00\x00\x04\x04", agent) as uri,
        pytest.raises(GraphVersionError, match=r"Neo4j/4\.4.* Neo4j 5 or newer"),
    ):
        GraphStore.connect(uri, "neo4j", "password", "neo4j")


def test_a_server_too_old_to_be_talked_to_is_said() -> None:
    with (
        bolt_server(b"\x00\x00\x00\x00", "") as uri,
        pytest.raises(GraphVersionError, match="Neo4j 5 or newer"),
    ):
        GraphStore.connect(uri, "neo4j", "password", "neo4j")


@contextmanager
def bolt_server(version: bytes, agent: str) -> Iterator[str]:
    """A server that agrees on a Bolt version and answers every message with its name."""
    name = agent.encode()
    metadata = b"\xa2\x86server" + bytes([0x80 + len(name)]) + name + b"\x8dconnection_id\x81c"
    success = b"\xb1\x70" + metadata
    reply = len(success).to_bytes(2, "big") + success + b"\x00\x00"

    def answer() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(20)
                    connection.sendall(version)
                    while any(version) and connection.recv(4096):
                        connection.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=answer)
        thread.start()
        try:
            yield f"bolt://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
