"""`steadyeval grade`: a whole exam file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from service.cli.batch import (
    Refused,
    by_question,
    check_output,
    checked_pipeline,
    report_refused,
    shipped_ledger,
    write_lines,
)
from service.cli.options import (
    ExamArgument,
    ForceOption,
    GraphOption,
    OutOption,
    ProfileOption,
    given_settings,
)
from service.errors import InputError
from service.exam import Answer, ExamItem, Question, format_score
from service.exam_file import read_exam
from service.records import RunKind
from service.settings import Settings

if TYPE_CHECKING:
    from service.pipeline import GradedAnswer


def grade(
    exam: ExamArgument,
    out: OutOption,
    graph: GraphOption = None,
    profile: ProfileOption = None,
    force: ForceOption = False,
) -> None:
    """Grade every answer of an exam file.

    A line of the results is a response of POST /grade behind the names of its answer. Exit code
    1: some answers were not graded.
    """
    from service.api.lines import GradedLine

    console = Console(stderr=True)
    check_output(out, exam=exam, force=force)
    settings = given_settings(graph=graph, profile=profile)
    read = read_exam(exam, max_answer_chars=settings.max_answer_chars)
    items = [*map(settings.pseudonyms.item, read)]

    def write(graded: Sequence[GradedAnswer]) -> None:
        write_lines(out, (GradedLine.of(answer) for answer in graded))

    graded, refused = grade_items(items, settings, console, on_graded=write)
    Console().print(_summary(graded))
    report_refused(refused, console)
    raise typer.Exit(1 if refused else 0)


def grade_items(
    items: Sequence[ExamItem],
    settings: Settings,
    console: Console,
    *,
    on_graded: Callable[[Sequence[GradedAnswer]], None] | None = None,
) -> tuple[list[GradedAnswer], list[Refused]]:
    """Register an exam and grade it as one Run of kind batch; ledger and graph have it then.

    Args:
        items: the answers of the exam.
        settings: which model, ledger and graph.
        console: where progress is shown.
        on_graded: is given the graded answers once the ledger has them, before the graph does.

    Returns:
        the graded answers in the order of the items, and those that the model cannot take.
    """
    graded: dict[int, GradedAnswer] = {}
    refused: list[Refused] = []

    def refuse(question: Question, answer: Answer, error: InputError) -> None:
        refused.append(Refused(question, answer, str(error)))

    with (
        shipped_ledger(settings, console) as ledger,
        checked_pipeline(settings, console, ledger) as pipeline,
    ):
        ledger.register(items)
        run = pipeline.new_run(RunKind.BATCH)
        for portion in by_question(items, label="grading", console=console):
            results = pipeline.grade_many(
                [(item.question, item.answer) for item in portion], run=run, on_refused=refuse
            )
            failed = {id(refusal.answer) for refusal in refused}
            taken = [item for item in portion if id(item.answer) not in failed]
            graded |= {id(item): result for item, result in zip(taken, results, strict=True)}
        in_order = [graded[id(item)] for item in items if id(item) in graded]
        if on_graded is not None:
            on_graded(in_order)
    return in_order, refused


def _summary(graded: Sequence[GradedAnswer]) -> Table:
    table = Table("exam", "answers", "need review", "cut", "mean baseline", "mean final")
    for column in table.columns[1:]:
        column.justify = "right"
    for exam_id in sorted({answer.question.exam_id for answer in graded}):
        answers = [answer for answer in graded if answer.question.exam_id == exam_id]
        table.add_row(
            exam_id,
            str(len(answers)),
            str(sum(answer.status == "needs_review" for answer in answers)),
            str(sum(bool(answer.removed_spans) for answer in answers)),
            _mean([answer.baseline.predicted_score for answer in answers]),
            _mean([answer.final_score for answer in answers]),
        )
    return table


def _mean(scores: Sequence[float | None]) -> str:
    known = [score for score in scores if score is not None]
    return format_score(round(fmean(known), 2)) if known else "-"
