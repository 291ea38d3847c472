"""`steadyeval graph`: start, stop and look at the graph, and ask it questions."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from service.cli.cell import cell
from service.cli.options import GraphOption, given_settings
from service.errors import InputError, SettingsError
from service.settings import Settings

if TYPE_CHECKING:
    from service.graph import QueryResult
    from service.graph.embedded import EmbeddedGraph

graph_app = typer.Typer(help="Run and query the graph of all judgements.", no_args_is_help=True)

_COUNTS = "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS nodes ORDER BY label"


@graph_app.command()
def up() -> None:
    """Start the embedded graph and leave it running, so that later commands start faster."""
    embedded = _embedded(given_settings())
    typer.echo(f"the embedded graph runs at {embedded.up().uri} until `steadyeval graph down`")


@graph_app.command()
def down() -> None:
    """Stop the embedded graph. Nothing is lost: what it lacks follows from the ledger."""
    stopped = _embedded(given_settings()).down()
    typer.echo("the embedded graph is stopped" if stopped else "the embedded graph was not running")


@graph_app.command()
def status(graph: GraphOption = None) -> None:
    """Say where the graph is, what it runs on, and how many nodes of each label it has."""
    from service.graph import open_graph

    settings = given_settings(graph=graph)
    if settings.graph == "embedded":
        embedded = _embedded(settings)
        running = "runs" if embedded.running() else "is not running; started for this look"
        typer.echo(f"embedded in {embedded.home}, {running}")
    with open_graph(settings) as store:
        typer.echo(f"{store.uri}, database {store.database}, {store.server}")
        Console().print(_table(store.query(_COUNTS)))


@graph_app.command()
def query(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-|NAME",
            help="A Cypher file, - for standard input, or a documented query such as "
            "why-this-grade or needs-review (docs/auditing.md lists all).",
        ),
    ],
    param: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=VALUE. The value is text where the query's default is text, else JSON "
            "(or text, where it is no JSON). Repeatable."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a row.")] = False,
    graph: GraphOption = None,
) -> None:
    """Run a query that only reads. `// :param name => value` lines in it are defaults."""
    from service.graph import open_graph
    from service.graph.queries import Query

    parsed = Query.parse(_read(source))
    parameters = dict(_parameter(text, parsed.defaults) for text in param or ())
    with open_graph(given_settings(graph=graph)) as store:
        result = parsed.run(store, parameters)
    if as_json:
        for row in result.rows:
            fields = dict(zip(result.columns, row, strict=True))
            typer.echo(json.dumps(fields, ensure_ascii=False, default=str))
    elif result.rows:
        Console().print(_table(result))
    else:
        typer.echo("no rows")


@graph_app.command()
def browser(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for what Browser imports.")
    ] = Path("neo4j-browser"),
    graph: GraphOption = None,
) -> None:
    """Say where Neo4j Browser is, and write its favourites and style sheet."""
    from service.graph import open_graph
    from service.graph.browser import browser_url, write_imports

    settings = given_settings(graph=graph)
    if settings.graph == "embedded":
        raise SettingsError(
            "the embedded graph has no Neo4j Browser: ask it with `steadyeval graph query NAME`, "
            "or set STEADYEVAL_GRAPH to the Bolt address of a Neo4j"
        )
    with open_graph(settings) as store:
        url = browser_url(store)
    try:
        favourites, style = write_imports(out)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error}; name another folder") from error
    typer.echo(f"open     {url}")
    typer.echo(f"drop in  {favourites}  (the documented queries, as saved scripts)")
    typer.echo(f"drop in  {style}  (colours and captions)")


def _embedded(settings: Settings) -> EmbeddedGraph:
    from service.graph.embedded import EmbeddedGraph

    if settings.graph != "embedded":
        raise SettingsError(
            f"STEADYEVAL_GRAPH is {settings.graph!r}; only the embedded graph is started "
            "and stopped from here"
        )
    return EmbeddedGraph(settings.graph_dir)


def _read(source: str) -> str:
    from service.graph.queries import documented_queries

    if source == "-":
        return sys.stdin.read()
    named = documented_queries()
    path = Path(source)
    if not path.is_file():
        if source not in named:
            raise InputError(
                f"{source!r} is neither a file nor a documented query ({', '.join(named)})"
            )
        path = named[source]
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _parameter(text: str, defaults: Mapping[str, str]) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise InputError(f"--param {text!r}: write NAME=VALUE")
    if defaults.get(name, "").startswith(("'", '"')):
        return name, value
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _table(result: QueryResult) -> Table:
    table = Table(*(escape(column) for column in result.columns))
    for row in result.rows:
        table.add_row(*(cell(value) for value in row))
    return table
