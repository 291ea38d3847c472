from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

from service.cli.graph import graph_app
from service.errors import InputError, SettingsError
from service.graph import GraphStore
from service.graph.browser import write_imports
from service.graph.queries import documented_queries
from tests.service.graph.conftest import Server


def browser(*arguments: str) -> str:
    return CliRunner().invoke(graph_app, ["browser", *arguments], catch_exceptions=False).stdout


def test_browser_says_where_it_is_and_writes_what_it_imports(
    store: GraphStore, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if "ArcadeDB" in store.server:
        pytest.skip("the embedded graph has no Neo4j Browser")
    monkeypatch.setenv("STEADYEVAL_GRAPH_USER", server.user)
    monkeypatch.setenv("STEADYEVAL_GRAPH_PASSWORD", server.password)
    monkeypatch.setenv("STEADYEVAL_GRAPH_DATABASE", server.database)
    shown = browser("--graph", server.uri, "--out", str(tmp_path / "imports"))
    settings = "SHOW SETTINGS YIELD name, value WHERE name = 'server.http.listen_address' "
    [[listens]] = store.query(settings + "RETURN value").rows
    address = urlsplit(shown.split()[1])
    assert address.port == int(listens.rpartition(":")[2])
    # With preselectAuthMethod=USER_PASS, Browser 5.24 shows no field for user and password.
    assert parse_qs(address.query) == {"dbms": [server.uri], "db": [server.database]}
    for path in (tmp_path / "imports").iterdir():
        assert str(path) in shown
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="another folder"):
        browser("--graph", server.uri, "--out", str(tmp_path / "file"))


def test_favourites_are_the_documented_queries_and_the_commands_that_set_their_parameters(
    tmp_path: Path,
) -> None:
    favourites, _ = write_imports(tmp_path)
    with ZipFile(favourites) as archive:
        scripts = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, path in documented_queries().items():
        query = scripts.pop(f"SteadyEval/{name}.cypher")
        assert query == path.read_text(encoding="utf-8")
        # Of a script with several commands, Browser shows no results.
        assert ";" not in re.sub(r"//.*", "", query).rstrip().rstrip(";")
        commands = scripts.pop(f"SteadyEval parameters/{name}.cypher", "")
        parameters = dict(re.findall(r"^:param (\w+) => (.+);$", commands, re.MULTILINE))
        assert set(parameters) == set(re.findall(r"\$(\w+)", query))
        # Browser shows the first line as the script's name.
        assert commands.partition("\n")[0] == query.partition("\n")[0]
    assert not scripts


def test_the_style_sheet_has_a_colour_for_every_label_of_the_schema(tmp_path: Path) -> None:
    _, style = write_imports(tmp_path)
    rules = re.findall(r"^node\.(\S+) \{[^}]*color:[^}]*caption:", style.read_text(), re.MULTILINE)
    # Browser 5.24 takes a caption with a colon for none at all.
    assert not re.search(r'caption: "[^"]*:', style.read_text())
    schema = documented_queries()["runs"].parents[1] / "schema.cypher"
    labels = set(re.findall(r"FOR \(\w+:(\w+)\)", schema.read_text()))
    stages = {f"Judgement.{stage}" for stage in ("Baseline", "Filter", "Filtered")}
    assert labels | stages <= set(rules)


def test_the_embedded_graph_has_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEADYEVAL_GRAPH", "embedded")
    with pytest.raises(SettingsError, match="graph query"):
        browser()
