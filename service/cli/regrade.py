"""`steadyeval regrade`: a batch from the shell, run by a service or in this process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.cli.batch import check_output, checked_pipeline, shipped_ledger, write_text
from service.cli.cell import cell
from service.cli.options import ForceOption, GraphOption, ProfileOption, given_settings
from service.errors import InputError, ServiceError
from service.settings import Settings

if TYPE_CHECKING:
    import httpx

    from service.api.batch_protocol import BatchStatus
    from service.jobs import NewItem
    from service.ledger import Ledger

_KINDS = {".jsonl": "application/jsonl", ".ndjson": "application/jsonl", ".csv": "text/csv"}
_POLL_S = 1.0
_TIMEOUT_S = 300.0


def regrade(
    exam: Annotated[
        str, typer.Argument(help="Exam file (JSONL, CSV), or id of an exam with recorded answers.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Results file: .jsonl or .csv.")],
    url: Annotated[
        str | None, typer.Option(help="Address of the service that grades; default: this process.")
    ] = None,
    graph: GraphOption = None,
    profile: ProfileOption = None,
    force: ForceOption = False,
) -> None:
    """Grade all answers of an exam again, beside the grades that there are.

    Broken off, the same command goes on where it was. Exit code 1: some answers have no grade.
    """
    console = Console(stderr=True)
    check_output(out, exam=Path(exam), force=force)
    if out.suffix not in (".jsonl", ".csv"):
        raise InputError(f"{out}: name the results file .jsonl or .csv")
    settings = given_settings(graph=graph, profile=profile)
    if url is None:
        status = _grade_here(exam, out, settings, console)
    else:
        status = _grade_there(exam, out, url, settings, console)
    _report(status)
    raise typer.Exit(0 if status.answers.graded == status.answers.total else 1)


def _grade_here(exam: str, out: Path, settings: Settings, console: Console) -> BatchStatus:
    from service.api.batch_protocol import BatchStatus
    from service.api.result_files import csv_lines, json_lines
    from service.jobs import JobRunner, JobStore, results

    with (
        shipped_ledger(settings, console) as ledger,
        JobStore(settings.jobs_path, most_jobs=settings.max_batches) as store,
    ):
        job = store.create(_items(exam, ledger, settings), None)
        with (
            checked_pipeline(settings, console, ledger) as pipeline,
            _progress(job.counts.total, console) as show,
        ):
            runner = JobRunner(store, ledger, lambda: pipeline)
            job = runner.run(job.job_id, lambda job: show(BatchStatus.of(job)))
        write = csv_lines if out.suffix == ".csv" else json_lines
        write_text(out, write(results(store, ledger, job.job_id)))
    return BatchStatus.of(job)


def _items(exam: str, ledger: Ledger, settings: Settings) -> list[NewItem]:
    from service.jobs import items_of_exam, items_of_file
    from service.json_lines import read_bytes

    if not Path(exam).is_file():
        return items_of_exam(ledger, exam)
    return items_of_file(
        read_bytes(Path(exam)),
        is_csv=_kind(Path(exam)) == "text/csv",
        max_answer_chars=settings.max_answer_chars,
        pseudonyms=settings.pseudonyms,
    )


def _grade_there(
    exam: str, out: Path, url: str, settings: Settings, console: Console
) -> BatchStatus:
    import httpx

    key = settings.api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=_TIMEOUT_S) as client:
            status = _status(_create(client, exam))
            with _progress(status.answers.total, console) as show:
                while not status.state.ended:
                    show(status)
                    time.sleep(_POLL_S)
                    status = _status(client.get(f"/batches/{status.batch_id}"))
            path = f"/batches/{status.batch_id}/results"
            with client.stream("GET", path, params={"format": out.suffix[1:]}) as response:
                write_text(out, _checked(response).iter_text())
    except httpx.HTTPError as error:
        raise ServiceError(
            f"the service at {url} does not answer ({type(error).__name__}: {error}); what it "
            "accepted goes on there, and the same command follows it"
        ) from error
    return status


def _create(client: httpx.Client, exam: str) -> httpx.Response:
    from service.json_lines import read_bytes

    if not Path(exam).is_file():
        return client.post("/batches", json={"exam_id": exam})
    headers = {"Content-Type": _kind(Path(exam))}
    return client.post("/batches", content=read_bytes(Path(exam)), headers=headers)


def _kind(exam: Path) -> str:
    try:
        return _KINDS[exam.suffix.lower()]
    except KeyError:
        raise InputError(f"{exam}: an exam file is named .jsonl or .csv") from None


def _status(response: httpx.Response) -> BatchStatus:
    from service.api.batch_protocol import BatchStatus

    return BatchStatus.model_validate(_checked(response).json())


def _checked(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    response.read()
    try:
        detail: Any = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = response.reason_phrase
    raise ServiceError(f"the service answered {response.status_code}: {detail}")


@contextmanager
def _progress(total: int, console: Console) -> Iterator[Any]:
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("grading", total=total)

        def show(status: BatchStatus) -> None:
            waits = f"waiting for: {status.waiting_for}" if status.waiting_for else "grading"
            settled = status.answers.graded + status.answers.failed
            bar.update(task, completed=settled, description=str(cell(waits, at_most=60)))

        yield show


def _report(status: BatchStatus) -> None:
    answers = status.answers
    parts: Iterable[str] = (f"{count} {reason}" for reason, count in status.failures.items())
    failed = f", {answers.failed} failed ({', '.join(parts)})" if answers.failed else ""
    typer.echo(f"run {status.batch_id}: {answers.graded} of {answers.total} answers graded{failed}")
