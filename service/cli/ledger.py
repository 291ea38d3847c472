"""`steadyeval ledger`: look at the ledger, check it, and bring the graph up to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.cli.cell import cell
from service.cli.options import GraphOption, given_settings
from service.errors import GraphError, InputError, SettingsError
from service.settings import Settings

if TYPE_CHECKING:
    from service.graph import GraphStore
    from service.ledger import Ledger
    from service.ledger.ledger import LedgerStatus
    from service.records import Position

ledger_app = typer.Typer(
    help="Look at the ledger, check it, and bring the graph up to it.", no_args_is_help=True
)

_SHOWN_RUNS = 5
_STEP_SECONDS = 0.5
_CONFIRMATIONS = """
MATCH (judgement:Judgement) WHERE judgement.spans_confirmed_by IS NOT NULL RETURN count(judgement)
"""
_OTHERS = "MATCH (ledger:Ledger) WHERE ledger.ledger_id <> $ledger_id RETURN count(ledger)"

YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@ledger_app.command()
def status(graph: GraphOption = None) -> None:
    """Say how much the ledger holds, where its chain ends, and how far the graph is behind."""
    settings = given_settings(graph=graph)
    with _ledger(settings) as ledger:
        now, runs = ledger.status(), ledger.latest_runs(_SHOWN_RUNS)
        typer.echo(f"ledger {ledger.ledger_id} in {ledger.path}")
        typer.echo(f"{now.last_seq} records, head {now.head}")
        _print_table(("records", "count"), sorted(now.records.items()))
        if runs:
            _print_table(
                ("latest runs", "kind", "pipeline", "started at"),
                [(run.run_id, run.kind, run.pipeline, run.started_at) for run in runs],
            )
        typer.echo(_graph_line(settings, ledger, now))


@ledger_app.command()
def verify(graph: GraphOption = None) -> None:
    """Check that ledger and graph are what was written; name each record that is not.

    Exit code 1: something differs. With `--graph none` the ledger alone is checked.
    """
    from service.graph.comparison import differences

    settings = given_settings(graph=graph)
    faults = 0
    with _ledger(settings) as ledger:
        now = ledger.status()
        for fault in ledger.faults():
            faults += 1
            typer.echo(f"ledger: {fault}")
        typer.echo(f"{now.last_seq} records in the ledger, head {now.head}: {_verdict(faults)}")
        if settings.graph != "none":
            in_graph = 0
            with _graph(settings) as store:
                position = store.position(ledger.ledger_id)
                if problem := _anchor_problem(ledger, position):
                    in_graph += 1
                    typer.echo(f"ledger: {problem}")
                reached = min(position.seq, now.last_seq)
                for fault in differences(store, ledger, reached):
                    in_graph += 1
                    typer.echo(f"graph: {fault}")
            waiting = now.last_seq - reached
            lag = f", {waiting} more wait for it" if waiting else ""
            typer.echo(f"{reached} records in the graph{lag}: {_verdict(in_graph)}")
            faults += in_graph
    raise typer.Exit(1 if faults else 0)


@ledger_app.command()
def replay(
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Write all records again, not only the newest.")
    ] = False,
    graph: GraphOption = None,
) -> None:
    """Ship what the graph lacks. Nothing that is there is deleted or doubled."""
    from service.graph import graph_name
    from service.ledger.shipper import turn
    from service.records import Position

    settings = given_settings(graph=graph)
    with _ledger(settings) as ledger:
        if from_start:
            with turn(ledger, graph_name(settings)), _graph(settings) as store:
                store.write([Position(ledger.ledger_id, 0)])
        _ship(settings, ledger)


@ledger_app.command("rebuild-graph")
def rebuild_graph(yes: YesOption = False, graph: GraphOption = None) -> None:
    """Empty the graph and fill it again, whole, from the ledger."""
    from service.graph import graph_name
    from service.ledger.shipper import turn

    settings = given_settings(graph=graph)
    with _ledger(settings) as ledger:
        with turn(ledger, graph_name(settings)), _graph(settings) as store:
            [(others,)] = store.query(_OTHERS, {"ledger_id": ledger.ledger_id}).rows
            if others:
                raise GraphError(
                    f"{others} other ledger(s) fill this graph too, and it would lack their "
                    "records; empty it by hand, then every service fills it again"
                )
            [(confirmations,)] = store.query(_CONFIRMATIONS).rows
            if not yes:
                typer.confirm(
                    f"Delete all that is in graph {graph_name(settings)}? {confirmations} "
                    "confirmation(s) of removed spans are in no ledger and would be lost",
                    abort=True,
                )
            with _progress() as progress:
                task = progress.add_task("emptying", total=None)
                for deleted in store.empty():
                    progress.advance(task, deleted)
        _ship(settings, ledger)


@contextmanager
def _ledger(settings: Settings) -> Iterator[Ledger]:
    """The ledger of the settings, which must be there."""
    from service.ledger import Ledger

    if not settings.ledger_path.exists():
        raise InputError(
            f"there is no ledger at {settings.ledger_path}; check STEADYEVAL_HOME, or grade first"
        )
    with closing(Ledger(settings.ledger_path)) as ledger:
        yield ledger


@contextmanager
def _graph(settings: Settings) -> Iterator[GraphStore]:
    from service.graph import open_graph

    with open_graph(settings) as store:
        yield store


def _ship(settings: Settings, ledger: Ledger) -> None:
    """Ship what the graph lacks, under a progress bar.

    Raises:
        GraphError: it cannot be written.
    """
    from service.graph import graph_name, open_graph
    from service.ledger import GraphShipper

    if settings.graph == "none":
        raise SettingsError("there is no graph to ship to; give --graph or set STEADYEVAL_GRAPH")
    total = ledger.last_seq()
    with (
        GraphShipper(ledger, partial(open_graph, settings), graph_name(settings)) as shipper,
        _progress() as progress,
    ):
        task = progress.add_task("shipping", total=total)
        while not shipper.flush(_STEP_SECONDS):
            if shipper.last_error is not None:
                raise GraphError(f"the graph lacks {shipper.lag()} records: {shipper.last_error}")
            progress.update(task, completed=total - shipper.lag())
        progress.update(task, completed=total)
    typer.echo(f"the graph has all {total} records")


def _anchor_problem(ledger: Ledger, position: Position) -> str | None:
    """What the graph's memory of the chain says against the ledger."""
    last = ledger.last_seq()
    if position.seq > last:
        return (
            f"the graph was sent {position.seq} records of it, but it ends at {last}: "
            "it was cut off, or an old copy was put back"
        )
    if position.head not in (None, ledger.hash_at(position.seq)):
        return (
            f"record {position.seq} is not the one that the graph was sent: the chain was "
            "written anew, or an old copy was put back and written on"
        )
    return None


def _graph_line(settings: Settings, ledger: Ledger, now: LedgerStatus) -> str:
    """How far the graph is, or why nobody can tell."""
    from service.graph import graph_name
    from service.ledger.shipper import reached_seq

    if settings.graph == "none":
        return "no graph"
    name = graph_name(settings)
    try:
        with _graph(settings) as store:
            reached = reached_seq(ledger, store.position(ledger.ledger_id))
    except GraphError as error:
        return f"graph {name}: {error}"
    return f"graph {name}: has {reached} records, {max(0, now.last_seq - reached)} behind"


def _verdict(faults: int) -> str:
    return f"{faults} fault(s)" if faults else "good"


def _print_table(titles: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    table = Table(*titles)
    for row in rows:
        table.add_row(*(cell(value) for value in row))
    Console().print(table)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
