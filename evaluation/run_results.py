"""Tables and figures of an evaluation, from its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.figures import all_figures, write_figure
from evaluation.layout import Layout
from evaluation.paper_numbers import PaperExam
from evaluation.pipelines import PIPELINES
from evaluation.run_journal import ScoreLine
from evaluation.scores import ScoreRow, Scores
from evaluation.tables import Table, all_tables, write_table
from evaluation.variants import BENIGN, FURTHER_ATTACKS
from service.errors import InputError
from service.exam import ExamItem, Question


def score_rows(lines: Iterable[ScoreLine], items: Iterable[ExamItem]) -> list[ScoreRow]:
    """Scores beside what the exam says about their answers."""
    of_answer = {(item.question.exam_id, item.answer.answer_id): item for item in items}
    rows = []
    for line in lines:
        item = of_answer[line.exam_id, line.answer_id]
        rows.append(
            ScoreRow(
                exam_id=line.exam_id,
                question_id=line.question_id,
                answer_id=line.answer_id,
                student_id=line.student_id,
                gold_type=item.question.gold_type,
                attack_type=line.attack_type,
                pipeline_variant=PIPELINES[line.pipeline].variant,
                score=line.score,
                expected_score=line.expected_score,
                scale=item.question.scale,
                human_scores=item.human_scores,
            )
        )
    return rows


def layout_of(
    pipelines: Sequence[str],
    rows: Iterable[ScoreRow],
    peers: Mapping[str, PaperExam],
    *,
    seed: int,
) -> Layout:
    """What the tables of an evaluation set side by side; the first pipeline is the reference."""
    there = {row.attack_type for row in rows}
    return Layout(
        pipelines=tuple(PIPELINES[name].variant for name in pipelines),
        further_attacks=tuple(name for name in FURTHER_ATTACKS if name in there),
        benign=tuple(name for name in BENIGN if name in there),
        peers=peers,
        seed=seed,
    )


def write_results(
    folder: Path, rows: Iterable[ScoreRow], questions: Iterable[Question], layout: Layout
) -> dict[str, Table]:
    """Write the tables to FOLDER/tables and the figures to FOLDER/figures.

    Returns:
        The tables by their names.

    Raises:
        InputError: the folder cannot be written to.
    """
    scores = Scores.of(rows)
    tables = {table.name: table for table in all_tables(scores, questions, layout)}
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        (folder / "tables").mkdir(exist_ok=True)
        for table in tables.values():
            write_table(table, folder / "tables")
        for drawing in all_figures(scores, layout):
            write_figure(drawing, figures)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    return tables
