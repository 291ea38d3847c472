"""A table as plain data: rows of figures, each with what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.bootstrap import Estimate
from evaluation.metrics import Distribution
from evaluation.paper_numbers import PaperFigure


@dataclass(frozen=True)
class Cell:
    """A figure, and the paper's own where its table has one."""

    estimate: Estimate
    paper: PaperFigure | None = None


@dataclass(frozen=True)
class Column:
    """A column of figures or of words.

    Attributes:
        title: its head.
        digits: after the decimal point, where a table is read by people.
        counted: whether people are shown what each figure is of; false where a neighbour says it.
    """

    title: str
    digits: int = 2
    counted: bool = True


@dataclass(frozen=True)
class Row:
    """A row: what it is about, and one cell for each column."""

    labels: tuple[str, ...]
    cells: tuple[Cell | str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: for files and references, such as `table_3`.
        caption: what it shows.
        keys: heads of the rows' labels.
        columns: the others.
        rows: in the order they are read in.
    """

    name: str
    caption: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def cell(self, labels: tuple[str, ...], title: str) -> Cell | str:
        """The cell in the row of these labels below the head `title`.

        Raises:
            KeyError: there is no such row or column.
        """
        cells = {row.labels: row.cells for row in self.rows}[labels]
        return dict(zip((column.title for column in self.columns), cells, strict=True))[title]

    def estimate(self, labels: tuple[str, ...], title: str) -> Estimate:
        """The figure in a cell that holds one."""
        cell = self.cell(labels, title)
        assert isinstance(cell, Cell)
        return cell.estimate


def paper_cell(estimate: Estimate, paper: float | None) -> Cell:
    """A cell whose peer in the paper has no interval."""
    return Cell(estimate, None if paper is None else PaperFigure(paper))


def distribution_cells(
    mean: Estimate, spread: Distribution, paper: Sequence[float | None]
) -> list[Cell]:
    """Standard deviation, median and quartiles of the figures that `mean` is the mean of."""
    values = (spread.sd, spread.median, spread.p25, spread.p75)
    return [
        paper_cell(Estimate(value, mean.n, mean.missing), theirs)
        for value, theirs in zip(values, paper, strict=True)
    ]
