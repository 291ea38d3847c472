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
from evaluation.variants import VariantPlan
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
    pipelines: Sequence[str], plan: VariantPlan, peers: Mapping[str, PaperExam]
) -> Layout:
    """What the tables of an evaluation set side by side; the first pipeline is the reference."""
    return Layout(
        pipelines=tuple(PIPELINES[name].variant for name in pipelines),
        further_attacks=plan.further_attacks,
        benign=plan.benign,
        peers=peers,
        seed=plan.seed,
    )


def write_results(
    folder: Path, rows: Iterable[ScoreRow], questions: Iterable[Question], layout: Layout
) -> list[Table]:
    """Write the tables to FOLDER/tables and the figures to FOLDER/figures."""
    scores = Scores.of(rows)
    tables = all_tables(scores, questions, layout)
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for table in tables:
        write_table(table, folder / "tables")
    for drawing in all_figures(scores, layout):
        write_figure(drawing, folder / "figures")
    return tables
