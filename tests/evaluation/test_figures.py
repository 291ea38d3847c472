"""The paper's figures show what its tables say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from evaluation.figures import Drawing, all_figures, write_figure
from evaluation.layout import Layout
from evaluation.scores import ScoreRow, Scores
from evaluation.tables.alignment import chief_panel_table, error_table
from evaluation.tables.stability import success_table
from filter_training.attacks import PAPER_ATTACKS
from tests.evaluation.made_up import answer_rows, random_rows

ROWS = [*random_rows(20, seed=1, exam_id="ml"), *random_rows(16, seed=2, exam_id="cn")]


def drawings(rows: list[ScoreRow], layout: Layout) -> dict[str, Drawing]:
    return {drawing.name: drawing for drawing in all_figures(Scores.of(rows), layout)}


def heights(axes: Axes) -> list[float]:
    """Of all bars, pipeline by pipeline."""
    return [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]


def test_bars_are_as_high_as_the_tables_say() -> None:
    scores, layout = Scores.of(ROWS), Layout()
    drawn = drawings(ROWS, layout)
    tables = success_table(scores, layout), error_table(scores, layout)
    for place, name in enumerate(("cn", "ml", "All")):
        assert heights(drawn["figure_3"].figure.axes[place]) == [
            tables[0].estimate((name, attack), f"{pipeline}: ASR (Δ ≥ 2, eligible) [%]").value
            for pipeline in layout.pipelines
            for attack in PAPER_ATTACKS
        ]
        assert heights(drawn["figure_5"].figure.axes[place]) == [
            tables[1].estimate((name,), f"{pipeline}: MAE {subset}").value
            for pipeline in layout.pipelines
            for subset in ("clean", "attacks")
        ]
        chief = (name, "filtered", "baseline, rater_1, rater_2")
        assert heights(drawn["figure_6"].figure.axes[place])[1] == (
            chief_panel_table(scores, layout).estimate(chief, "Chief-panel MAE").value
        )


@pytest.mark.parametrize("name", ["figure_2", "figure_4"])
def test_shares_of_a_pipeline_add_up_to_all(name: str) -> None:
    for axes in drawings(ROWS, Layout())[name].figure.axes:
        shares = heights(axes)
        assert sum(shares[: len(shares) // 2]) == pytest.approx(100)
        assert sum(shares) == pytest.approx(200)


def test_what_is_missing_is_said() -> None:
    rows = answer_rows("a", {"baseline": [5, 7, 6, 5, None]}, human=[5])
    drawn = drawings(rows, Layout(pipelines=("baseline",)))
    for name, counts in {
        "figure_2": "baseline (n 3, 1 missing)",
        "figure_3": "baseline (n 3, 1 missing)",
        "figure_4": "baseline (n 0, 1 missing)",
        "figure_5": "baseline (n 4, 1 missing)",
        "figure_6": "baseline (n 1)",
    }.items():
        [axes] = drawn[name].figure.axes
        legend = axes.get_legend()
        assert legend is not None
        assert [text.get_text() for text in legend.get_texts()] == [counts]


def test_files_are_the_same_for_the_same_scores(tmp_path: Path) -> None:
    for drawing in drawings(ROWS, Layout()).values():
        write_figure(drawing, tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(written) == {f"figure_{n}.{kind}" for n in range(1, 7) for kind in ("png", "svg")}
    assert b"BASED_ON" in written["figure_1.svg"]
    write_figure(drawings(ROWS, Layout())["figure_3"], tmp_path)
    for name in ("figure_3.png", "figure_3.svg"):
        assert (tmp_path / name).read_bytes() == written[name]


@pytest.mark.parametrize("score", [None, 5.0])
def test_scores_that_are_missing_or_alike_can_be_drawn(score: float | None, tmp_path: Path) -> None:
    alone = [
        replace(row, human_scores=())
        for row in answer_rows("a", {"baseline": [score] * 5, "filtered": [score] * 5})
    ]
    for drawing in drawings(alone, Layout()).values():
        write_figure(drawing, tmp_path)


def test_more_exams_than_fit_a_line_have_a_panel_each() -> None:
    many = [row for exam in "abcde" for row in random_rows(3, seed=1, exam_id=exam)]
    panels = drawings(many, Layout())["figure_5"].figure.axes
    assert [axes.get_title() for axes in panels if axes.axison] == [*"abcde", "All"]
    four = [row for row in many if row.exam_id in "abc"]
    panels = drawings(four, Layout())["figure_5"].figure.axes
    assert [axes.get_title() for axes in panels if axes.axison] == [*"abc", "All"]
