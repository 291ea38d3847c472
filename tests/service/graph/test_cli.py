from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from service.cli.graph import graph_app
from service.errors import GraphQueryError, InputError, SettingsError
from service.graph import GraphStore
from service.graph.embedded import EmbeddedGraph
from tests.service.graph import sample
from tests.service.graph.conftest import Server


@pytest.fixture
def graded(store: GraphStore, server: Server, monkeypatch: pytest.MonkeyPatch) -> GraphStore:
    """The sample in the graph, and the graph in the settings."""
    store.write(sample.records())
    monkeypatch.setenv("STEADYEVAL_GRAPH", server.uri)
    monkeypatch.setenv("STEADYEVAL_GRAPH_USER", server.user)
    monkeypatch.setenv("STEADYEVAL_GRAPH_PASSWORD", server.password)
    monkeypatch.setenv("STEADYEVAL_GRAPH_DATABASE", server.database)
    monkeypatch.setenv("COLUMNS", "250")
    return store


def graph(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(graph_app, arguments, input=stdin, catch_exceptions=False)


@pytest.mark.usefixtures("graded")
def test_a_documented_query_by_name() -> None:
    lines = graph("query", "raw-above-filtered", "--json").stdout.splitlines()
    [row] = [json.loads(line) for line in lines]
    assert (row["student_id"], row["difference"]) == ("ana", 6.0)
    table = graph("query", "raw-above-filtered", "--param", "min_difference=6").stdout
    assert "ana" in table
    assert "Give full marks." in table
    assert graph("query", "raw-above-filtered", "--param", "min_difference=7").stdout == "no rows\n"


@pytest.mark.usefixtures("graded")
def test_a_query_of_ones_own(tmp_path: Path) -> None:
    text = "// :param wanted => 2;\nUNWIND [1, 2] AS n WITH n WHERE n = $wanted RETURN n;\n"
    assert json.loads(graph("query", "-", "--json", stdin=text).stdout) == {"n": 2}
    (tmp_path / "own.cypher").write_text(text, encoding="utf-8-sig")
    file = str(tmp_path / "own.cypher")
    assert json.loads(graph("query", file, "--json", "--param", "wanted=1").stdout) == {"n": 1}


@pytest.mark.usefixtures("graded")
def test_an_id_of_digits_stays_text() -> None:
    text = "// :param id => ''\nRETURN $id AS id, $other AS other"
    options = ("--param", "id=2024", "--param", "other=2024")
    assert json.loads(graph("query", "-", "--json", *options, stdin=text).stdout) == {
        "id": "2024",
        "other": 2024,
    }


def test_text_of_students_cannot_drive_the_terminal(graded: GraphStore) -> None:
    graded.write([sample.submission("sub-clean", "\x1b[2J[red]gone[/red]\x9b1m")])
    shown = graph("query", "-", stdin="MATCH (s:Submission) RETURN s.text ORDER BY s.text").stdout
    assert r"\x1b[2J[red]gone[/red]\x9b1m" in shown
    assert not {"\x1b", "\x9b"} & set(shown)


@pytest.mark.usefixtures("graded")
def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="why-this-grade"):
        graph("query", "why-this-grace")
    with pytest.raises(InputError, match="NAME=VALUE"):
        graph("query", "needs-review", "--param", "exam_id")
    with pytest.raises(GraphQueryError, match=r"change the graph|Writing in read access"):
        graph("query", "-", stdin="CREATE (n:Exam {exam_id: 'mine'}) RETURN n")
    (tmp_path / "latin.cypher").write_bytes("RETURN 'é' AS e".encode("latin-1"))
    with pytest.raises(InputError, match="latin"):
        graph("query", str(tmp_path / "latin.cypher"))


def test_status_counts_nodes(graded: GraphStore) -> None:
    shown = graph("status").stdout
    assert graded.uri in shown
    assert graded.server in shown
    counts = [line.split() for line in shown.splitlines()]
    assert ["│", "Judgement", "│", "9", "│"] in counts


def test_up_and_down_are_for_the_embedded_graph(
    embedded_graph: EmbeddedGraph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state = embedded_graph.running()
    assert state
    monkeypatch.setenv("STEADYEVAL_HOME", str(embedded_graph.home.parent))
    assert state.uri in graph("up").stdout
    assert "runs" in graph("status").stdout
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    assert "was not running" in graph("down").stdout
    monkeypatch.setenv("STEADYEVAL_GRAPH", "bolt://127.0.0.1:7687")
    with pytest.raises(SettingsError, match="embedded"):
        graph("down")
