"""A Neo4j that is dumped, lost, and loaded again, beside the ledger that fills it."""

from __future__ import annotations

import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result
from neo4j import GraphDatabase
from typer.testing import CliRunner

from service.cli.app import app
from service.graph import GraphStore
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ScriptedEngine

RUN_SH = Path(__file__).parents[3].parent / "shared" / "neo4j" / "run.sh"
PASSWORD = secrets.token_hex(16)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not RUN_SH.exists() or shutil.which("java") is None,
        reason="there is no Neo4j beside the checkout that could be stopped and started",
    ),
]


class Neo4j:
    """A server of a folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.uri = ""

    def run(self, verb: str, *arguments: str) -> str:
        return subprocess.run(
            ["bash", RUN_SH, verb, self.home, *arguments],
            capture_output=True,
            check=True,
            text=True,
        ).stdout

    def start(self) -> None:
        bolt, http = free_port(), free_port()
        self.uri = self.run("start", bolt, http, PASSWORD).strip()

    def connect(self) -> GraphStore:
        return GraphStore.connect(self.uri, "neo4j", PASSWORD, "neo4j")


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Neo4j]:
    server = Neo4j(tmp_path / "neo4j")
    try:
        server.start()
        yield server
    finally:
        server.run("stop")


def steadyeval(server: Neo4j, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--graph", server.uri])


def test_a_dump_that_is_loaded_catches_up_with_the_ledger(
    server: Neo4j, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("STEADYEVAL_GRAPH_PASSWORD", PASSWORD)
    with closing(Ledger(tmp_path / "ledger.sqlite3")) as ledger:
        pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
        pipeline.grade(QUESTION, answer("The Moon.", "a1", "s1"))
        assert steadyeval(server, "ledger", "replay").exit_code == 0
        dumped = ledger.last_seq()
        # What is in the graph alone: a reason to keep dumps beside the ledger.
        with (
            GraphDatabase.driver(server.uri, auth=("neo4j", PASSWORD)) as driver,
            driver.session() as session,
        ):
            session.run("MATCH (j:Filter) SET j.spans_confirmed_by = 'Prof. Ebb'").consume()

        server.run("stop")
        (tmp_path / "dumps").mkdir()
        server.run("admin", "database", "dump", "neo4j", f"--to-path={tmp_path / 'dumps'}")
        pipeline.grade(QUESTION, answer("The Sun.", "a2", "s2"))

        shutil.rmtree(server.home / "data")
        load = ("database", "load", "neo4j", "--overwrite-destination=true")
        server.run("admin", *load, f"--from-path={tmp_path / 'dumps'}")
        server.start()
        with server.connect() as store:
            assert store.position(ledger.ledger_id).seq == dumped
            confirmed = "MATCH (j:Filter) WHERE j.spans_confirmed_by = 'Prof. Ebb' RETURN count(j)"
            assert store.query(confirmed).rows == [(1,)]

        assert steadyeval(server, "ledger", "replay").exit_code == 0
        verified = steadyeval(server, "ledger", "verify")
        assert verified.exit_code == 0, verified.output
        assert f"{ledger.last_seq()} records in the graph: good" in verified.output
