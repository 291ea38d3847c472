"""A measurement as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from filter_training.restoration_report import Estimate, Group, Report

_COLUMNS = {
    "restored": "restored or unchanged",
    "partly_restored": "≥ 95 % kept, no attack",
    "attack_words_left": "attack words left",
    "content_lost": "content lost",
}
_TRAITS = ("kind", "course", "placement", "carrier")


def tables(report: Report) -> Iterator[Table]:
    """All sets side by side, then each set by what its texts differ in."""
    overview = _table("set")
    for name, measured in report.sets.items():
        _add(overview, name, measured.all)
    yield overview
    for name, measured in report.sets.items():
        parts = _table(name)
        for trait in _TRAITS:
            values = measured.by.get(trait, {})
            if len(values) > 1:
                parts.add_section()
                for value, group in values.items():
                    _add(parts, f"{trait}: {value}", group)
        if parts.row_count:
            yield parts


def _table(title: str) -> Table:
    table = Table(title, "texts", *_COLUMNS.values())
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _add(table: Table, name: str, group: Group) -> None:
    cells = [_cell(group.measures.get(measure)) for measure in _COLUMNS]
    table.add_row(name, str(group.texts), *cells)


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    share, low, high = (100 * value for value in (estimate.share, estimate.low, estimate.high))
    return f"{share:.1f} % ({low:.1f}–{high:.1f})"
