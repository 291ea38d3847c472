"""The command `steadyeval`. Commands import what they need when they run, so help is instant."""

from __future__ import annotations

from importlib.metadata import version as distribution_version

import typer

from evaluation.adaptive.cli import attack
from evaluation.cli import evaluate
from filter_training.cli import train_app
from service.cli.backup import backup, restore
from service.cli.demo import demo
from service.cli.filter import filter_exam
from service.cli.grade import grade
from service.cli.graph import graph_app
from service.cli.keys import keys_app
from service.cli.ledger import ledger_app
from service.cli.models import models_app
from service.cli.privacy import privacy_app
from service.cli.publish import publish
from service.cli.regrade import regrade
from service.cli.serve import serve

app = typer.Typer(
    name="steadyeval",
    help="Grade short exam answers so that no answer can talk its way to a grade.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(serve)
app.command()(grade)
app.command()(regrade)
app.command("filter")(filter_exam)
app.command()(publish)
app.command()(backup)
app.command()(restore)
app.command()(evaluate)
app.command()(attack)
app.add_typer(models_app, name="models")
app.add_typer(graph_app, name="graph")
app.add_typer(ledger_app, name="ledger")
app.add_typer(privacy_app, name="privacy")
app.add_typer(keys_app, name="keys")
app.add_typer(train_app, name="train")


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(distribution_version("steadyeval"))
