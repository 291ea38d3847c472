"""Tables, figures and the report of an evaluation, from its scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaluation.evaluated import Evaluated
from evaluation.figures import all_figures, write_figure
from evaluation.layout import Layout
from evaluation.paper_numbers import PaperExam
from evaluation.pipelines import pipeline_named
from evaluation.report import report_page
from evaluation.run_journal import RunDescription
from evaluation.scores import Scores
from evaluation.tables import Table, all_tables, write_table
from evaluation.variants import BENIGN, FURTHER_ATTACKS
from service.errors import InputError


def layout_of(found: Evaluated, peers: Mapping[str, PaperExam], *, seed: int) -> Layout:
    """What the tables of an evaluation set side by side; the first pipeline is the reference."""
    there = {row.attack_type for row in found.rows}
    return Layout(
        pipelines=tuple(pipeline_named(name).variant for name in found.pipelines),
        further_attacks=tuple(name for name in FURTHER_ATTACKS if name in there),
        benign=tuple(name for name in BENIGN if name in there),
        peers=peers,
        seed=seed,
    )


def write_results(
    folder: Path,
    found: Evaluated,
    layout: Layout,
    *,
    description: RunDescription | None,
    texts: bool,
) -> dict[str, Table]:
    """Write FOLDER/tables, FOLDER/figures and FOLDER/report.html.

    Args:
        folder: is made where it is not there.
        found: scores, and what they are of.
        layout: what is compared with what.
        description: how the scores were made, where that is known.
        texts: whether the report shows answers.

    Returns:
        The tables by their names.

    Raises:
        InputError: the folder cannot be written to.
    """
    scores = Scores.of(found.rows)
    tables = {table.name: table for table in all_tables(scores, found.questions, layout)}
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        (folder / "tables").mkdir(exist_ok=True)
        for table in tables.values():
            write_table(table, folder / "tables")
        drawings = all_figures(scores, layout)
        for drawing in drawings:
            write_figure(drawing, figures)
        page = report_page(
            scores,
            tables,
            {
                drawing.caption: (figures / f"{drawing.name}.svg").read_bytes()
                for drawing in drawings
            },
            layout,
            description=description,
            texts=found.texts if texts else None,
        )
        (folder / "report.html").write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    return tables
