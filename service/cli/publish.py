"""`steadyeval publish`: let the grades of a run count."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from service.cli.batch import shipped_ledger
from service.cli.cell import cell
from service.cli.options import GraphOption, given_settings
from service.errors import InputError

if TYPE_CHECKING:
    from service.judgement import Judgement
    from service.ledger.publishing import PublicationPlan

_FINGERPRINT_SHOWN = 12


def publish(
    run: Annotated[str, typer.Argument(help="run_id; `steadyeval ledger status` has the latest.")],
    by: Annotated[str, typer.Option(help="Who decides.")],
    why: Annotated[str, typer.Option(help="The reason, for whoever asks in years to come.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    graph: GraphOption = None,
) -> None:
    """Make the final grades of a run the grades of record, after showing what would change.

    A grade without a valid score never counts: those answers keep what they have.
    """
    if not (by.strip() and why.strip()):
        raise InputError("--by and --why must not be empty")
    settings = given_settings(graph=graph)
    console = Console(stderr=True)
    if not settings.ledger_path.exists():
        raise InputError(f"there is no ledger at {settings.ledger_path}; check STEADYEVAL_HOME")
    with shipped_ledger(settings, console) as ledger:
        plan = ledger.publication_plan(run)
        _show(plan)
        if not plan.changes:
            return
        if not yes and not (sys.stdin.isatty() and typer.confirm("Let these grades count?")):
            typer.echo("nothing was changed; --yes does it without asking")
            raise typer.Exit(1)
        ledger.publish(plan, by=by, reason=why)
        typer.echo(f"{len(plan.changes)} grades of record moved, by {by}: {why}")


def _show(plan: PublicationPlan) -> None:
    if plan.changes:
        table = Table("exam", "question", "answer", "student", "old", "new", "graded by")
        for change in plan.changes:
            new = change.new
            names = (new.exam_id, new.question_id, new.answer_id, new.student_id)
            scores = (_score(change.old), _score(new))
            table.add_row(*(cell(value) for value in (*names, *scores, _model(new))))
        Console().print(table)
    firsts = sum(change.old is None for change in plan.changes)
    typer.echo(
        f"run {plan.run_id}: {firsts} answers get their first grade of record, "
        f"{len(plan.changes) - firsts} another one, {plan.unchanged} keep theirs"
    )
    for judgement in plan.without_score:
        typer.echo(
            f"no valid score, left as it is: exam {judgement.exam_id!a}, "
            f"answer {judgement.answer_id!a}"
        )


def _score(judgement: Judgement | None) -> float | None:
    return None if judgement is None else judgement.predicted_score


def _model(judgement: Judgement) -> str:
    return f"{judgement.model_fingerprint[:_FINGERPRINT_SHOWN]} / {judgement.prompt_version}"
