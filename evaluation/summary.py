"""The few figures of an evaluation that a terminal shows."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from rich import box
from rich.table import Table as RichTable

from evaluation.bootstrap import Estimate
from evaluation.layout import Layout
from evaluation.paper_numbers import ALL_ATTACKS
from evaluation.tables import Table


def summary(tables: Mapping[str, Table], layout: Layout) -> RichTable:
    """One row for each pipeline, of all exams together.

    Args:
        tables: name → table.
        layout: of the tables.
    """
    everyone = tables["table_6"].rows[-1].labels
    attacks = (*everyone, ALL_ATTACKS)
    shown = RichTable(
        "pipeline",
        "MAE clean",
        "MAE attacks",
        "mean Δ",
        "ASR (Δ ≥ 2) [%]",
        "mean CS",
        "mean WCS",
        title=f"{everyone[0]}, 95 % intervals of pairs; more in tables/",
        box=box.SIMPLE_HEAD,
    )
    for column in shown.columns[1:]:
        column.justify = "right"
    for pipeline in layout.pipelines:
        figures = (
            tables["table_6"].estimate(everyone, f"{pipeline}: MAE clean"),
            tables["table_6"].estimate(everyone, f"{pipeline}: MAE attacks"),
            tables["table_8"].estimate(attacks, f"{pipeline}: mean shift"),
            tables["table_8"].estimate(attacks, f"{pipeline}: ASR (Δ ≥ 2, eligible) [%]"),
            tables["table_5"].estimate(everyone, f"{pipeline}: mean CS"),
            tables["weighted_spread"].estimate(everyone, f"{pipeline}: mean WCS"),
        )
        shown.add_row(pipeline, *map(_read, figures))
    return shown


def _read(estimate: Estimate) -> str:
    if isnan(estimate.value):
        return "–"
    interval = estimate.interval
    brackets = f"\n[{interval.low:z.2f}, {interval.high:z.2f}]" if interval else ""
    return f"{estimate.value:z.2f}{brackets}"
