from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import GraphError
from service.graph import embedded as module
from service.graph import open_graph
from service.graph.embedded import EmbeddedGraph
from service.settings import Settings
from tests.service.graph import sample

COUNT = "MATCH (judgement:Judgement) RETURN count(judgement)"


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[EmbeddedGraph]:
    embedded = EmbeddedGraph(tmp_path / "graph")
    yield embedded
    embedded.down()


def pid(graph: EmbeddedGraph) -> int:
    state = graph.running()
    assert state
    return state.pid


def test_the_server_is_private(embedded_graph: EmbeddedGraph) -> None:
    home = embedded_graph.home
    password = (home / "password").read_text()
    process = Path("/proc") / str(pid(embedded_graph))
    assert len(password) >= 32
    assert password not in (process / "cmdline").read_text()
    assert password not in (process / "environ").read_text()
    for file in ("password", "server.json", "lock"):
        assert (home / file).stat().st_mode & 0o777 == 0o600, file
    assert home.stat().st_mode & 0o777 == 0o700


def test_the_server_listens_to_this_machine_only(embedded_graph: EmbeddedGraph) -> None:
    process = Path("/proc") / str(pid(embedded_graph))
    sockets = {os.readlink(link) for link in (process / "fd").iterdir() if link.is_symlink()}
    listening = [
        fields[1].split(":")[0]
        for table in ("tcp", "tcp6")
        for fields in (
            line.split() for line in (process / "net" / table).read_text().splitlines()[1:]
        )
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets
    ]
    assert len(listening) == 2, "Bolt and HTTP"
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert "MCP" not in embedded_graph.log.read_text()


def test_the_last_one_out_stops_the_server(
    graph: EmbeddedGraph, capfd: pytest.CaptureFixture[str]
) -> None:
    with graph.open() as first:
        own = pid(graph)
        assert os.getsid(own) == own, "Ctrl-C in this terminal must not reach it"
        with EmbeddedGraph(graph.home).open() as second:
            assert second.uri == first.uri
        assert pid(graph) == own
        assert first.query("RETURN 1 AS one").rows == [(1,)]
    assert graph.running() is None
    with pytest.raises(ProcessLookupError):
        os.kill(own, 0)
    assert capfd.readouterr() == ("", "")


def test_a_killed_server_is_replaced_and_keeps_its_data(graph: EmbeddedGraph) -> None:
    with graph.open() as store:
        store.apply_schema()
        store.write(sample.records())
        os.kill(pid(graph), signal.SIGKILL)
    assert graph.running() is None

    # By now the process number may belong to somebody else: here, to this test.
    state = json.loads((graph.home / "server.json").read_text())
    (graph.home / "server.json").write_text(json.dumps({**state, "pid": os.getpid()}))
    with graph.open() as store:
        assert pid(graph) != os.getpid()
        assert store.query(COUNT).rows == [(9,)]


def test_up_stays_until_down_and_a_lost_password_is_made_anew(
    graph: EmbeddedGraph, tmp_path: Path
) -> None:
    state = graph.up()
    assert state.stays
    assert graph.up() == state
    with open_graph(Settings(home=tmp_path, graph="embedded")) as store:
        store.write(sample.records())
        assert store.uri == state.uri
    assert graph.running() == state
    assert graph.down()
    assert graph.running() is None
    assert not graph.down()

    (graph.home / "password").unlink()
    with graph.open() as store:
        assert store.query(COUNT).rows == [(9,)]
    assert graph.running() is None


def test_a_server_whose_starter_was_killed_is_found_and_stopped(graph: EmbeddedGraph) -> None:
    killed = subprocess.run([sys.executable, "-c", STARTER, str(graph.home)], check=False)
    assert killed.returncode == -signal.SIGKILL
    orphan = pid(graph)
    with graph.open() as store:
        assert pid(graph) == orphan
        assert store.query("RETURN 1 AS one").rows == [(1,)]
    assert graph.running() is None


STARTER = """
import os, signal, sys
from pathlib import Path
from service.graph.embedded import EmbeddedGraph

with EmbeddedGraph(Path(sys.argv[1])).open():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_server_that_cannot_start_leads_to_its_log(graph: EmbeddedGraph) -> None:
    graph.home.mkdir()
    (graph.home / "databases").write_text("in the way")
    with pytest.raises(GraphError, match=r"server\.log"), graph.open():
        pytest.fail("opened")
    assert graph.running() is None


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(GraphError, match="STEADYEVAL_HOME"),
        EmbeddedGraph(tmp_path / "file" / "graph").open(),
    ):
        pytest.fail("opened")


def test_a_missing_wheel_is_said(graph: EmbeddedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(GraphError, match="pip install"), graph.open():
        pytest.fail("opened")
