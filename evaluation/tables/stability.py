"""What attacks do to scores: tables 3, 4, 5 and 8 of the paper, and the WCS that it defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from evaluation.bootstrap import Estimate
from evaluation.layout import Layout, Population, populations
from evaluation.metrics import (
    Floats,
    PairSums,
    consistency_spread,
    distribution,
    eligible,
    eligible_success,
    success,
    weighted_consistency_spread,
)
from evaluation.paper_numbers import (
    ABLATION,
    ALL_ATTACKS,
    SHIFT,
    SPREAD,
    SUCCESS,
    PaperDistribution,
    PaperExam,
    PaperSuccess,
)
from evaluation.scores import Scores
from evaluation.tables.table import Cell, Column, Row, Table, distribution_cells
from filter_training.attacks import CLEAN


def shift_table(scores: Scores, layout: Layout) -> Table:
    """Table 3: how far attacks shift scores."""
    return _distribution_table(
        scores,
        layout,
        name="table_3",
        caption="Score shift Δ = attacked − clean under the attacks, in points of ten.",
        symbol="Δ",
        figures=lambda population, pipeline: population.delta(pipeline, layout.attacks),
        paper=SHIFT,
    )


def spread_table(scores: Scores, layout: Layout) -> Table:
    """Table 5: consistency spread over the clean and the attacked variants."""
    return _distribution_table(
        scores,
        layout,
        name="table_5",
        caption=(
            "Consistency spread CS = max − min over a pair's clean and attacked variants, "
            "in points of ten."
        ),
        symbol="CS",
        figures=lambda population, pipeline: consistency_spread(
            population.points(pipeline, layout.variants)
        ),
        paper=SPREAD,
    )


def benign_spread_table(scores: Scores, layout: Layout) -> Table:
    """Consistency spread over the variants that keep an answer's meaning."""
    return _distribution_table(
        scores,
        layout,
        name="benign_spread",
        caption=(
            "Consistency spread CS = max − min over a pair's clean variant and those that keep "
            f"its meaning ({', '.join(layout.benign)}), in points of ten."
        ),
        symbol="CS",
        figures=lambda population, pipeline: consistency_spread(
            population.points(pipeline, (CLEAN, *layout.benign))
        ),
        paper={},
    )


def weighted_spread_table(scores: Scores, layout: Layout) -> Table:
    """The weighted consistency spread, which the paper defines and does not print."""
    return _distribution_table(
        scores,
        layout,
        name="weighted_spread",
        caption=(
            "Weighted consistency spread WCS = mean over a pair's attacks of |attacked − clean|, "
            "in points of ten: the main summary of instability."
        ),
        symbol="WCS",
        figures=lambda population, pipeline: weighted_consistency_spread(
            population.points(pipeline, layout.attacks), population.clean(pipeline)
        ),
        paper={},
    )


def success_table(scores: Scores, layout: Layout) -> Table:
    """Table 4: how often each attack succeeds."""
    kinds = [
        ("mean Δ", "shift"),
        ("ASR (Δ ≥ 2, eligible) [%]", "eligible_by_two"),
        ("ASR (Δ ≥ 2, all) [%]", "by_two"),
        ("ASR (Δ ≥ 1, eligible) [%]", "eligible_by_one"),
        ("ASR (Δ ≥ 1, all) [%]", "by_one"),
    ]
    columns = [
        _AttackColumn(f"{pipeline}: {title}", pipeline, kind)
        for title, kind in kinds
        for pipeline in layout.pipelines
    ]
    attacks = {attack: (attack,) for attack in (*layout.attacks, *layout.further_attacks)}
    return Table(
        name="table_4",
        caption=(
            "Attack success by variant: mean score shift Δ in points of ten, and the share of "
            "pairs whose score rises by at least 2 (main) and 1 (sensitivity). Eligible pairs "
            "have a human score below the maximum, as the paper's text asks; its tables seem to "
            "be of all pairs."
        ),
        keys=("Dataset", "Attack type"),
        columns=tuple(column.column for column in columns),
        rows=tuple(_attack_rows(scores, layout, attacks, columns, _of_table_4)),
    )


def ablation_table(scores: Scores, layout: Layout) -> Table:
    """Table 8: what each pipeline does about each attack."""
    kinds = [
        ("mean shift", "shift"),
        ("ASR (Δ ≥ 2, eligible) [%]", "eligible_by_two"),
        ("ASR (Δ ≥ 2, all) [%]", "by_two"),
    ]
    columns = [
        _AttackColumn(f"{pipeline}: {title}", pipeline, kind)
        for pipeline in layout.pipelines
        for title, kind in kinds
    ]
    attacks = {
        **{attack: (attack,) for attack in layout.attacks},
        ALL_ATTACKS: layout.attacks,
        **{attack: (attack,) for attack in layout.further_attacks},
    }
    return Table(
        name="table_8",
        caption=(
            "Pipelines beside each other: mean shift from clean to attacked in points of ten, and "
            "attack success rate (ASR) among eligible pairs, whose human score is below the "
            f"maximum, and among all. All attacks: {', '.join(layout.attacks)}."
        ),
        keys=("Domain", "Attack type"),
        columns=tuple(column.column for column in columns),
        rows=tuple(
            _attack_rows(
                scores,
                layout,
                attacks,
                columns,
                lambda exam, attack, pipeline: ABLATION.get((exam, attack, pipeline)),
            )
        ),
    )


def _distribution_table(
    scores: Scores,
    layout: Layout,
    *,
    name: str,
    caption: str,
    symbol: str,
    figures: Callable[[Population, str], Floats],
    paper: Mapping[tuple[PaperExam, str], PaperDistribution],
) -> Table:
    columns = [
        Column(f"{pipeline}: {title} {symbol}", counted=title == "mean")
        for pipeline in layout.pipelines
        for title in ("mean", "SD", "median", "P25", "P75")
    ]
    rows = []
    for population in populations(scores, layout):
        values = {pipeline: figures(population, pipeline) for pipeline in layout.pipelines}
        means = population.estimates([PairSums.of(one) for one in values.values()], layout)
        cells: list[Cell] = []
        for (pipeline, one), mean in zip(values.items(), means, strict=True):
            theirs = paper.get((population.paper, pipeline)) if population.paper else None
            cells.append(Cell(mean, theirs.mean if theirs else None))
            others = (theirs.sd, theirs.median, theirs.p25, theirs.p75) if theirs else [None] * 4
            cells += distribution_cells(mean, distribution(one), others)
        rows.append(Row((population.name,), tuple(cells)))
    return Table(name, caption, ("Dataset",), tuple(columns), tuple(rows))


@dataclass(frozen=True)
class _AttackColumn:
    """A column about what an attack does to one pipeline."""

    title: str
    pipeline: str
    kind: str

    @property
    def column(self) -> Column:
        return Column(self.title)

    def cell(self, estimate: Estimate, theirs: PaperSuccess | None) -> Cell:
        """Beside the paper's figure of the same kind; it has none for eligible pairs."""
        if theirs is None:
            return Cell(estimate)
        papers = {"shift": theirs.shift, "by_two": theirs.by_two, "by_one": theirs.by_one}
        return Cell(estimate, papers.get(self.kind))


def _attack_rows(
    scores: Scores,
    layout: Layout,
    attacks: Mapping[str, tuple[str, ...]],
    columns: list[_AttackColumn],
    paper: Callable[[PaperExam, str, str], PaperSuccess | None],
) -> Iterator[Row]:
    for population in populations(scores, layout):
        samples = [
            _attack_samples(population, column.pipeline, together)[column.kind]
            for together in attacks.values()
            for column in columns
        ]
        found = iter(population.estimates(samples, layout))
        exam = population.paper
        for attack in attacks:
            cells = tuple(
                column.cell(next(found), paper(exam, attack, column.pipeline) if exam else None)
                for column in columns
            )
            yield Row((population.name, attack), cells)


def _attack_samples(
    population: Population, pipeline: str, attacks: tuple[str, ...]
) -> dict[str, PairSums]:
    """By kind of column; success in percent."""
    delta = population.delta(pipeline, attacks)
    gold = population.gold
    below = eligible(gold, population.scores.on_ten(population.scores.max_points))

    def of_eligible(threshold: float) -> PairSums:
        return PairSums.of(100 * eligible_success(delta, gold, threshold), among=below)

    return {
        "shift": PairSums.of(delta),
        "eligible_by_two": of_eligible(2),
        "by_two": PairSums.of(100 * success(delta, 2)),
        "eligible_by_one": of_eligible(1),
        "by_one": PairSums.of(100 * success(delta, 1)),
    }


def _of_table_4(exam: PaperExam, attack: str, pipeline: str) -> PaperSuccess | None:
    """It is of both exams pooled; what each exam has is in table 8."""
    if exam is PaperExam.ALL:
        return SUCCESS.get((attack, pipeline))
    return ABLATION.get((exam, attack, pipeline))
