"""The paper's tables of any scores, and those that it defines and does not print."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.layout import Layout
from evaluation.scores import Scores
from evaluation.tables.alignment import (
    agreement_table,
    chief_panel_table,
    error_table,
    gold_type_table,
)
from evaluation.tables.course_use import course_use_table
from evaluation.tables.differences import difference_table
from evaluation.tables.fairness import audit_table, dimension_table, style_table
from evaluation.tables.overview import exam_table
from evaluation.tables.rendering import to_csv, to_latex, to_markdown, write_table
from evaluation.tables.stability import (
    ablation_table,
    benign_spread_table,
    shift_table,
    spread_table,
    success_table,
    weighted_spread_table,
)
from evaluation.tables.table import Cell, Column, Row, Table
from service.exam import Question

__all__ = [
    "Cell",
    "Column",
    "Layout",
    "Row",
    "Table",
    "all_tables",
    "to_csv",
    "to_latex",
    "to_markdown",
    "write_table",
]


def all_tables(scores: Scores, questions: Iterable[Question], layout: Layout) -> list[Table]:
    """Tables 1 and 3 to 8 of the paper, then the others."""
    makers = [
        shift_table,
        success_table,
        spread_table,
        error_table,
        chief_panel_table,
        ablation_table,
        gold_type_table,
        weighted_spread_table,
        difference_table,
        agreement_table,
        style_table,
        audit_table,
        course_use_table,
    ]
    if layout.benign:
        makers.append(benign_spread_table)
    if scores.dimensions:
        makers.append(dimension_table)
    return [exam_table(scores, questions), *(make(scores, layout) for make in makers)]
