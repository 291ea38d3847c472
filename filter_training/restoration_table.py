"""A measurement as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Column, Table

from filter_training.restoration_report import Estimate, Group, Report

_COLUMNS = {
    "restored": "restored",
    "partly_restored": "in part",
    "attack_words_left": "left",
    "content_lost": "lost",
}
_NAME_WIDTH = 18
"""With four intervals beside it, what fits a terminal of 80 columns."""
_TRAITS = ("kind", "course", "placement")


def tables(report: Report) -> Iterator[Table]:
    """All sets side by side, then each set by what its texts differ in."""
    overview = _table("set")
    overview.caption = "left: words of the attack; lost: characters of the answer"
    for name, measured in report.sets.items():
        _add(overview, name, measured.all)
    yield overview
    for name, measured in report.sets.items():
        parts = _table(name)
        for trait in _TRAITS:
            values = measured.by.get(trait, {})
            if len(values) > 1:
                parts.add_row()
                for value, group in values.items():
                    _add(parts, value, group)
        if parts.row_count:
            yield parts


def _table(title: str) -> Table:
    name = Column(title, max_width=_NAME_WIDTH, overflow="fold")
    table = Table(name, "texts", *(f"{name} %" for name in _COLUMNS.values()), box=None)
    for column in table.columns[1:]:
        column.justify = "right"
        column.no_wrap = True
    return table


def _add(table: Table, name: str, group: Group) -> None:
    cells = [_cell(group.measures.get(measure)) for measure in _COLUMNS]
    table.add_row(name, str(group.texts), *cells)


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    share, low, high = (
        f"{100 * value:.1f}".removesuffix(".0")
        for value in (estimate.share, estimate.low, estimate.high)
    )
    return f"{share}\n({low}–{high})"
