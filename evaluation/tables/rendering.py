"""Tables as CSV with every number, and as Markdown and LaTeX for people."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from math import isnan, nan
from pathlib import Path

from evaluation.bootstrap import Estimate, Interval
from evaluation.paper_numbers import PaperFigure
from evaluation.tables.table import Cell, Column, Row, Table

_LEGEND = (
    "In brackets: 95 % bootstrap intervals of 10,000 resamples of the pairs; by question: of the "
    "questions. Missing: left out because a score is not there."
)
_PAPER = "Paper: Mistral-7B-Instruct-v0.2 on the paper's own exams; model and exam differ."
_NOTHING = Cell(Estimate(nan, 0, 0))
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"$|$",
    "−": "$-$",
    "≥": r"$\geq$",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
}


def to_csv(table: Table) -> str:
    """One column for each number that a table's figures have anywhere; no rounding to read."""
    heads = list(table.keys)
    lines = [dict(zip(table.keys, row.labels, strict=True)) for row in table.rows]
    for place, column in enumerate(table.columns):
        numbers = [_numbers(column.title, row.cells[place]) for row in table.rows]
        used = {head: None for one in numbers for head, value in one.items() if value}
        heads += [head for head in _numbers(column.title, _NOTHING) if head in used]
        for line, one in zip(lines, numbers, strict=True):
            line |= {head: one.get(head, "") for head in used}
    text = StringIO()
    writer = csv.DictWriter(text, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def to_markdown(table: Table) -> str:
    """A table for GitHub and notebooks, its caption above and what its figures mean below."""
    heads = [*table.keys, *(column.title for column in table.columns)]
    marks = ["---"] * len(table.keys) + ["---:"] * len(table.columns)
    lines = [heads, marks]
    for row in table.rows:
        cells = ["<br>".join(lines) for lines in cell_lines(table, row)]
        lines.append([*(label.replace("|", r"\|") for label in row.labels), *cells])
    body = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    notes = "\n".join(foot_notes(table))
    below = f"\n{notes}\n" if notes else ""
    return f"**{table_title(table)}.** {table.caption}\n\n{body}\n{below}"


def to_latex(table: Table) -> str:
    """A table environment that needs no package."""
    heads = [_latex(head) for head in [*table.keys, *(column.title for column in table.columns)]]
    lines = [" & ".join(heads) + r" \\ \hline"]
    for row in table.rows:
        cells = [_stacked(map(_latex, lines)) for lines in cell_lines(table, row)]
        lines.append(" & ".join([*map(_latex, row.labels), *cells]) + r" \\")
    body = "\n".join(lines)
    notes = _latex(" ".join([table.caption, *foot_notes(table)]))
    return (
        "\\begin{table}\n"
        f"\\caption{{{notes}}}\n"
        f"\\label{{tab:{table.name}}}\n"
        f"\\begin{{tabular}}{{{'l' * len(table.keys)}{'r' * len(table.columns)}}}\n"
        "\\hline\n"
        f"{body}\n"
        "\\hline\n"
        "\\end{tabular}\n"
        "\\end{table}\n"
    )


def write_table(table: Table, folder: Path) -> None:
    """Write a table as NAME.csv, NAME.md and NAME.tex."""
    for ending, render in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
        (folder / f"{table.name}.{ending}").write_text(render(table), encoding="utf-8")


def _numbers(title: str, cell: Cell | str) -> dict[str, str]:
    """Head of a CSV column → its value."""
    if isinstance(cell, str):
        return {title: cell}
    estimate, paper = cell.estimate, cell.paper
    values = {
        title: estimate.value,
        **_ends(title, estimate.interval),
        **_ends(f"{title}, by question", estimate.by_question),
        f"{title}, n": estimate.n,
        f"{title}, missing": estimate.missing,
        f"{title}, paper": paper.value if paper else None,
        **_ends(f"{title}, paper", paper),
    }
    return {head: _plain(value) for head, value in values.items()}


def _ends(title: str, interval: Interval | PaperFigure | None) -> dict[str, float | None]:
    return {
        f"{title}, low": interval.low if interval else None,
        f"{title}, high": interval.high if interval else None,
    }


def _plain(value: float | None) -> str:
    return "" if value is None or isnan(value) else f"{value:.6g}"


def cell_lines(table: Table, row: Row) -> Iterator[list[str]]:
    """What people read in each cell of a row, line by line."""
    for column, cell in zip(table.columns, row.cells, strict=True):
        yield [cell] if isinstance(cell, str) else list(_lines(column, cell))


def _lines(column: Column, cell: Cell) -> Iterator[str]:
    estimate, paper = cell.estimate, cell.paper
    if isnan(estimate.value):
        yield "–"
    else:
        value = _read(estimate.value, column)
        yield f"{value} {_brackets(estimate.interval, column)}".rstrip()
    if estimate.by_question is not None:
        yield f"by question {_brackets(estimate.by_question, column)}"
    if column.counted:
        missing = f", {estimate.missing} missing" if estimate.missing else ""
        yield f"n {estimate.n}{missing}"
    if paper is not None:
        yield f"paper {_read(paper.value, column)} {_brackets(paper, column)}".rstrip()


def _brackets(interval: Interval | PaperFigure | None, column: Column) -> str:
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f"[{_read(interval.low, column)}, {_read(interval.high, column)}]"


def _read(value: float, column: Column) -> str:
    return f"{value:z.{column.digits}f}".replace("-", "−")


def foot_notes(table: Table) -> list[str]:
    """What the figures of a table mean."""
    cells = [cell for row in table.rows for cell in row.cells if isinstance(cell, Cell)]
    notes = [_LEGEND] if cells else []
    return [*notes, _PAPER] if any(cell.paper for cell in cells) else notes


def table_title(table: Table) -> str:
    """The table's name to read."""
    return table.name.replace("_", " ").capitalize()


def _stacked(lines: Iterable[str]) -> str:
    one_below_another = r" \\ ".join(lines)
    return rf"\shortstack[r]{{{one_below_another}}}"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
