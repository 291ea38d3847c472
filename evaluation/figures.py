"""Figures 1 to 6 of the paper, of any scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evaluation.bootstrap import Estimate
from evaluation.layout import Layout, Population, populations
from evaluation.metrics import Floats, consistency_spread
from evaluation.scores import Scores
from evaluation.tables.alignment import chief_panel_table, error_table
from evaluation.tables.stability import success_table

_DPI = 150
_PANEL = (4.2, 3.6)
_WIDEST = 3
"""Panels beside each other."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with the name of its files and what it shows."""

    name: str
    caption: str
    figure: Figure


def all_figures(scores: Scores, layout: Layout) -> list[Drawing]:
    """Figures 1 to 6, one panel for each exam and one for all of them pooled."""
    with _looks():
        return [
            Drawing(
                "figure_1", "The two pipelines and what they leave in the graph.", _pipelines()
            ),
            Drawing(
                "figure_2",
                "Distribution of the score shift Δ = attacked − clean, in points of ten.",
                _histograms(
                    scores,
                    layout,
                    lambda population, pipeline: population.delta(pipeline, layout.attacks),
                    bins=[step - 0.5 for step in range(-10, 12)],
                    label="Δ",
                ),
            ),
            Drawing(
                "figure_3",
                "Attack success rate (Δ ≥ 2, pairs with a human score below the maximum) by "
                "attack, with 95 % intervals.",
                _success(scores, layout),
            ),
            Drawing(
                "figure_4",
                "Distribution of the consistency spread over clean and attacked variants, in "
                "points of ten.",
                _histograms(
                    scores,
                    layout,
                    lambda population, pipeline: consistency_spread(
                        population.points(pipeline, layout.variants)
                    ),
                    bins=[step - 0.5 for step in range(12)],
                    label="CS",
                ),
            ),
            Drawing(
                "figure_5",
                "Mean absolute error against the mean human score on clean and attacked answers, "
                "in points of ten, with 95 % intervals.",
                _errors(scores, layout),
            ),
            Drawing(
                "figure_6",
                "Mean absolute difference between each pipeline as chief and the panel of all "
                "other graders on clean answers, in points of ten, with 95 % intervals.",
                _chiefs(scores, layout),
            ),
        ]


def write_figure(drawing: Drawing, folder: Path) -> None:
    """Write a figure as NAME.png and NAME.svg, the same bytes for the same figure."""
    with _looks():
        drawing.figure.savefig(folder / f"{drawing.name}.png", dpi=_DPI)
        drawing.figure.savefig(folder / f"{drawing.name}.svg", metadata={"Date": None})


@contextmanager
def _looks() -> Iterator[None]:
    """Colours that colour-blind readers can tell apart; in SVG text as text, and lasting ids."""
    with (
        style.context("petroff10"),
        mpl.rc_context({"svg.hashsalt": "steadyeval", "svg.fonttype": "none"}),
    ):
        yield


def _pipelines() -> Figure:
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 5)
    boxes = {
        "answer": (1.1, 3.0, "Student answer\n(clean or attacked)"),
        "filter": (3.6, 1.8, "Filter\n(base model + LoRA)"),
        "cleaned": (5.9, 1.8, "Cleaned\nanswer"),
        "baseline": (5.9, 4.2, "Grader\n(raw answer)"),
        "filtered": (8.4, 1.8, "Grader\n(cleaned answer)"),
        "j_baseline": (8.4, 4.2, "Judgement\nbaseline"),
        "j_filter": (3.6, 0.4, "Judgement\nfilter_step"),
        "j_filtered": (8.4, 0.4, "Judgement\nfiltered"),
    }
    drawn = {}
    for name, (x, y, text) in boxes.items():
        colour = "lightblue" if name.startswith("j_") else "white"
        look = {"boxstyle": "round,pad=0.5", "facecolor": colour}
        drawn[name] = axes.text(x, y, text, ha="center", va="center", bbox=look)
    arrows = [
        ("answer", "baseline"),
        ("answer", "filter"),
        ("filter", "cleaned"),
        ("cleaned", "filtered"),
        ("baseline", "j_baseline"),
        ("filter", "j_filter"),
        ("filtered", "j_filtered"),
        ("j_filtered", "j_filter"),
    ]
    for start, end in arrows:
        shape = {
            "arrowstyle": "->",
            "patchA": drawn[start].get_bbox_patch(),
            "patchB": drawn[end].get_bbox_patch(),
        }
        axes.annotate("", boxes[end][:2], boxes[start][:2], arrowprops=shape)
    axes.text(6.0, 0.5, "[:BASED_ON]", ha="center", va="bottom")
    return figure


def _histograms(
    scores: Scores,
    layout: Layout,
    figures: Callable[[Population, str], Floats],
    *,
    bins: list[float],
    label: str,
) -> Figure:
    """Shares of the figures that are there, pipelines beside each other."""
    everyone = populations(scores, layout)
    figure, panels = _panels([population.name for population in everyone])
    for axes, population in zip(panels, everyone, strict=True):
        values = [figures(population, pipeline) for pipeline in layout.pipelines]
        there = [one[np.isfinite(one)] for one in values]
        axes.hist(
            there,
            bins=bins,
            weights=[np.full(len(one), 100 / max(len(one), 1)) for one in there],
            label=[
                _with_counts(pipeline, len(known), one.size - len(known))
                for pipeline, known, one in zip(layout.pipelines, there, values, strict=True)
            ],
        )
        axes.set_xlabel(label)
        axes.set_ylabel("share [%]")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        _legend(axes)
    return figure


def _success(scores: Scores, layout: Layout) -> Figure:
    table = success_table(scores, layout)
    attacks = (*layout.attacks, *layout.further_attacks)
    everyone = [population.name for population in populations(scores, layout)]
    figure, panels = _panels(everyone)
    for axes, name in zip(panels, everyone, strict=True):
        bars = {
            pipeline: [
                table.estimate((name, attack), f"{pipeline}: ASR (Δ ≥ 2, eligible) [%]")
                for attack in attacks
            ]
            for pipeline in layout.pipelines
        }
        _bars(axes, attacks, bars)
        axes.set_ylabel("attack success [%]")
        axes.tick_params("x", rotation=30)
    return figure


def _errors(scores: Scores, layout: Layout) -> Figure:
    table = error_table(scores, layout)
    subsets = ("clean", "attacks")
    everyone = [population.name for population in populations(scores, layout)]
    figure, panels = _panels(everyone)
    for axes, name in zip(panels, everyone, strict=True):
        bars = {
            pipeline: [table.estimate((name,), f"{pipeline}: MAE {subset}") for subset in subsets]
            for pipeline in layout.pipelines
        }
        _bars(axes, subsets, bars)
        axes.set_ylabel("MAE")
    return figure


def _chiefs(scores: Scores, layout: Layout) -> Figure:
    table = chief_panel_table(scores, layout)
    largest: dict[tuple[str, str], Estimate] = {}
    for row in table.rows:
        # The largest panel of a chief comes first.
        name, chief, _ = row.labels
        largest.setdefault((name, chief), table.estimate(row.labels, "Chief-panel MAE"))
    everyone = [population.name for population in populations(scores, layout)]
    figure, panels = _panels(everyone)
    for axes, name in zip(panels, everyone, strict=True):
        bars = {
            pipeline: [largest[name, pipeline]]
            for pipeline in layout.pipelines
            if (name, pipeline) in largest
        }
        _bars(axes, ("as chief",), bars)
        axes.set_ylabel("chief-panel MAE")
    return figure


def _panels(titles: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """A panel for each title, of one height."""
    across = min(len(titles), _WIDEST)
    down = -(-len(titles) // across)
    width, height = _PANEL
    figure = Figure(figsize=(width * across, height * down), layout="constrained")
    panels = list(figure.subplots(down, across, sharey=True, squeeze=False).flat)
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(title)
    for empty in panels[len(titles) :]:
        empty.set_axis_off()
    return figure, panels[: len(titles)]


def _bars(axes: Axes, groups: Sequence[str], bars: Mapping[str, Sequence[Estimate]]) -> None:
    """One bar for each pipeline in each group, with its interval."""
    places = np.arange(len(groups))
    width = 0.8 / max(len(bars), 1)
    for number, (pipeline, estimates) in enumerate(bars.items()):
        axes.bar(
            places + (number - (len(bars) - 1) / 2) * width,
            [estimate.value for estimate in estimates],
            width,
            yerr=list(zip(*map(_whiskers, estimates), strict=True)),
            capsize=3,
            label=_with_counts(
                pipeline,
                sum(estimate.n for estimate in estimates),
                sum(estimate.missing for estimate in estimates),
            ),
        )
    axes.set_xticks(places, groups)
    if bars:
        _legend(axes)


def _legend(axes: Axes) -> None:
    """Above what is drawn, not on it."""
    axes.margins(y=0.3)
    axes.legend(loc="upper left", fontsize="small")


def _whiskers(estimate: Estimate) -> tuple[float, float]:
    if estimate.interval is None:
        return 0.0, 0.0
    # The middle of a skewed bootstrap may lie beside the figure itself.
    return (
        max(estimate.value - estimate.interval.low, 0.0),
        max(estimate.interval.high - estimate.value, 0.0),
    )


def _with_counts(pipeline: str, n: int, missing: int) -> str:
    return f"{pipeline} (n {n}" + (f", {missing} missing)" if missing else ")")
