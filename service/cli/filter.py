"""`steadyeval filter`: what the filter would remove from the answers of an exam file."""

from __future__ import annotations

from collections.abc import Sequence
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
    write_lines,
)
from service.cli.options import (
    ExamArgument,
    ForceOption,
    OutOption,
    ProfileOption,
    given_settings,
)
from service.errors import PromptTooLongError
from service.exam import ExamItem
from service.exam_file import read_exam

if TYPE_CHECKING:
    from service.filter import FilteredText
    from service.pipeline import GradingPipeline


def filter_exam(
    exam: ExamArgument,
    out: OutOption,
    profile: ProfileOption = None,
    force: ForceOption = False,
) -> None:
    """Show what the filter would remove from every answer; nothing is graded or stored.

    A line of the results is a response of POST /filter behind the names of its answer. Exit code
    1: some answers were not filtered.
    """
    from service.api.lines import FilteredLine

    console = Console(stderr=True)
    check_output(out, exam=exam, force=force)
    settings = given_settings(profile=profile)
    read = read_exam(exam, max_answer_chars=settings.max_answer_chars)
    items = [*map(settings.pseudonyms.item, read)]
    filtered: dict[int, FilteredText] = {}
    refused: list[Refused] = []
    with checked_pipeline(settings, console) as pipeline:
        for portion in by_question(items, label="filtering", console=console):
            _clean(pipeline, portion, filtered, refused)
    done = [(item, filtered[id(item)]) for item in items if id(item) in filtered]
    write_lines(out, (FilteredLine.of_item(item, text) for item, text in done))
    Console().print(_summary(done))
    report_refused(refused, console)
    raise typer.Exit(1 if refused else 0)


def _clean(
    pipeline: GradingPipeline,
    portion: Sequence[ExamItem],
    filtered: dict[int, FilteredText],
    refused: list[Refused],
) -> None:
    try:
        texts = pipeline.clean_many([(item.question, item.answer.text) for item in portion])
    except PromptTooLongError as error:
        if len(portion) > 1:
            for item in portion:
                _clean(pipeline, [item], filtered, refused)
        else:
            refused.append(Refused(portion[0].question, portion[0].answer, str(error)))
    else:
        filtered |= {id(item): text for item, text in zip(portion, texts, strict=True)}


def _summary(done: Sequence[tuple[ExamItem, FilteredText]]) -> Table:
    table = Table("exam", "answers", "cut", "characters removed")
    for column in table.columns[1:]:
        column.justify = "right"
    for exam_id in sorted({item.question.exam_id for item, _ in done}):
        texts = [text for item, text in done if item.question.exam_id == exam_id]
        removed = [len(span.text) for text in texts for span in text.removed]
        table.add_row(
            exam_id,
            str(len(texts)),
            str(sum(bool(text.removed) for text in texts)),
            str(sum(removed)),
        )
    return table
