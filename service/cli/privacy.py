"""`steadyeval privacy`: what is known of a student, and its erasure."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from service.cli.batch import shipped_ledger
from service.cli.options import GraphOption, given_settings
from service.errors import InputError
from service.settings import Settings

if TYPE_CHECKING:
    from service.ledger.erasure import AnswerKey

privacy_app = typer.Typer(
    help="Export and erase what is kept of students' answers; tell pseudonyms.",
    no_args_is_help=True,
)

StudentArgument = Annotated[str, typer.Argument(help="student_id, or its pseudonym.")]
ExamOption = Annotated[
    str | None, typer.Option(help="Only in this exam; the same id elsewhere may be another's.")
]
ByOption = Annotated[str, typer.Option(help="Who decides.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@privacy_app.command()
def export(student: StudentArgument, exam: ExamOption = None) -> None:
    """Print all that is recorded of a student's answers, one JSON object a record."""
    settings = given_settings(graph="none")
    _require_ledger(settings)
    student = settings.pseudonyms.of(student)
    with shipped_ledger(settings, Console(stderr=True)) as ledger:
        records = ledger.records_of_student(student, exam)
    if not records:
        raise InputError(_nothing_of(student, exam))
    for record in records:
        line = {"kind": type(record).__name__, **asdict(record)}
        typer.echo(json.dumps(line, ensure_ascii=False, default=str))


@privacy_app.command()
def pseudonym(student: StudentArgument) -> None:
    """Print what a student is called in all records."""
    settings = given_settings()
    if settings.pseudonym_key is None:
        raise InputError("students have no pseudonyms: STEADYEVAL_PSEUDONYM_KEY_FILE is not set")
    typer.echo(settings.pseudonyms.of(student))


@privacy_app.command()
def erase(
    student: StudentArgument,
    by: ByOption,
    why: Annotated[str, typer.Option(help="The reason, kept on record.")],
    exam: ExamOption = None,
    yes: YesOption = False,
    graph: GraphOption = None,
) -> None:
    """Erase all texts of a student's answers from ledger and graph; scores and records stay.

    Texts that wait in a batch go too: it does not grade them.
    """
    from service.jobs.store import JobStore

    settings = given_settings(graph=graph)
    _require_ledger(settings)
    student = settings.pseudonyms.of(student)
    with (
        JobStore(settings.jobs_path, most_jobs=settings.max_batches) as jobs,
        shipped_ledger(settings, Console(stderr=True)) as ledger,
    ):
        decided_by, reason = _filled(by), _filled(why)
        answers = ledger.answers_with_texts(student, exam)
        waiting = jobs.count_texts(student, exam)
        if not answers and not waiting:
            raise InputError(_nothing_of(student, exam))
        typer.echo(f"{waiting} text(s) in batches")
        _confirm(answers, yes=yes)
        # These first, so that no batch grades them in between; what one had begun is not recorded,
        # or is found now.
        ledger.withdraw(jobs.erase(student, exam))
        answers = ledger.answers_with_texts(student, exam)
        _report(answers, gone=ledger.erase(answers, by=decided_by, reason=reason))


@privacy_app.command()
def expire(
    older_than: Annotated[int, typer.Option(min=1, help="Days since the last text or grade.")],
    by: ByOption,
    yes: YesOption = False,
    graph: GraphOption = None,
) -> None:
    """Erase the texts of all answers of which nothing was received or graded for so long."""
    settings = given_settings(graph=graph)
    _require_ledger(settings)
    with shipped_ledger(settings, Console(stderr=True)) as ledger:
        answers = ledger.answers_older_than(datetime.now(UTC) - timedelta(days=older_than))
        if not answers:
            typer.echo(f"no answer with texts is older than {older_than} days")
            return
        _confirm(answers, yes=yes)
        reason = f"older than {older_than} days"
        _report(answers, gone=ledger.erase(answers, by=_filled(by), reason=reason))


def _confirm(answers: Sequence[AnswerKey], *, yes: bool) -> None:
    exams = sorted({answer.exam_id for answer in answers})
    listed = ", ".join(f"{exam!a}" for exam in exams)
    typer.echo(f"{len(answers)} answer(s) in exam(s) {listed}")
    if not yes and not (sys.stdin.isatty() and typer.confirm("Erase their texts for good?")):
        typer.echo("nothing was erased; --yes does it without asking")
        raise typer.Exit(1)


def _report(answers: Sequence[AnswerKey], *, gone: bool) -> None:
    typer.echo(f"the texts of {len(answers)} answer(s) are erased")
    if not gone:
        typer.echo(
            "another process reads the ledger: its write-ahead log keeps them until that process "
            "has ended"
        )


def _require_ledger(settings: Settings) -> None:
    path: Path = settings.ledger_path
    if not path.exists():
        raise InputError(f"there is no ledger at {path}; check STEADYEVAL_HOME")


def _nothing_of(student: str, exam: str | None) -> str:
    where = "" if exam is None else f" in exam {exam!a}"
    return f"nothing to tell of student {student!a}{where}: no text of an answer is recorded"


def _filled(text: str) -> str:
    if not text.strip():
        raise InputError("--by and --why must not be empty")
    return text
