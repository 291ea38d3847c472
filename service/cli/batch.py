"""What `grade`, `filter` and `demo` share: an exam in batches, and an output file in one piece."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.errors import InputError
from service.exam import Answer, ExamItem, Question
from service.settings import Settings

if TYPE_CHECKING:
    from service.ledger import Ledger
    from service.pipeline import GradingPipeline

_FLUSH_SECONDS = 60.0
_PORTION = 64


@dataclass(frozen=True)
class Refused:
    """An answer that the model cannot take, and why."""

    question: Question
    answer: Answer
    reason: str

    def __str__(self) -> str:
        exam, answer = self.question.exam_id, self.answer
        return f"{exam}, answer {answer.answer_id} ({answer.attack_type}): {self.reason}"


def by_question(
    items: Sequence[ExamItem], *, label: str, console: Console
) -> Iterator[list[ExamItem]]:
    """The items in portions of answers to one question, under a progress bar.

    Answers to one question share their prompt's head, and twins share results.
    """
    groups: dict[tuple[str, str], list[ExamItem]] = {}
    for item in items:
        groups.setdefault((item.question.exam_id, item.question.question_id), []).append(item)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task(label, total=len(items))
        for group in groups.values():
            for start in range(0, len(group), _PORTION):
                portion = group[start : start + _PORTION]
                yield portion
                progress.advance(task, len(portion))


@contextmanager
def checked_pipeline(
    settings: Settings, console: Console, ledger: Ledger | None = None
) -> Iterator[GradingPipeline]:
    """The pipeline of these settings, once its filter has passed the canary.

    Raises:
        ModelError: weights are missing, or the filter does not filter.
    """
    # Only here, since help and faulty input need no model.
    from service.engine.factory import open_engine
    from service.pipeline import GradingPipeline

    with console.status(f"loading {settings.profile}"):
        engine = open_engine(settings)
    try:
        pipeline = GradingPipeline(engine, ledger=ledger, decoding=settings.decoding)
        with console.status("checking the filter"):
            pipeline.check()
        yield pipeline
    finally:
        engine.close()


@contextmanager
def shipped_ledger(settings: Settings, console: Console) -> Iterator[Ledger]:
    """The ledger, shipped to the graph while it is written; the end waits for the rest."""
    from service.graph import graph_name, open_graph
    from service.ledger import GraphShipper, Ledger

    ledger = Ledger(settings.ledger_path)
    try:
        if settings.graph == "none":
            yield ledger
            return
        shipper = GraphShipper(ledger, partial(open_graph, settings), graph_name(settings))
        shipper.start()
        try:
            yield ledger
            with console.status("writing the graph"):
                shipper.flush(_FLUSH_SECONDS)
            if lag := shipper.lag():
                console.print(
                    f"[yellow]the graph lacks {lag} records[/]: {escape(str(shipper.last_error))}. "
                    "They are safe in the ledger and follow at the next start."
                )
        finally:
            shipper.stop()
    finally:
        ledger.close()


def check_output(path: Path, *, exam: Path, force: bool) -> None:
    """Refuse an output file that cannot be written or would replace another.

    Raises:
        InputError: it is there already, is the exam itself or no regular file, or its folder is
            not there or is closed.
    """
    if not os.path.isdir(path.parent) or not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"{path.parent} is no folder that can be written to")
    try:
        there = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    if not stat.S_ISREG(there.st_mode):
        raise InputError(f"{path} is no regular file; give the name of a file")
    if os.path.exists(exam) and os.path.samestat(there, exam.stat()):
        raise InputError(f"{path} is the exam file itself; give another name")
    if not force:
        raise InputError(f"{path} is there already; give another name, or --force to replace it")


def write_lines(path: Path, records: Iterable[BaseModel]) -> None:
    """Write one JSON record a line; the file appears whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    write_text(path, (f"{record.model_dump_json()}\n" for record in records))


def write_text(path: Path, parts: Iterable[str]) -> None:
    """Write a text as it comes; the file appears whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=path.parent, delete=False
        ) as file:
            try:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error


def report_refused(refused: Sequence[Refused], console: Console) -> None:
    """Name the answers that the model could not take."""
    for refusal in refused:
        console.print(f"[red]refused[/]: {escape(str(refusal))}", highlight=False)
