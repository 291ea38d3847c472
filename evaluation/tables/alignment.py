"""How near pipelines are to people: tables 6 and 7 of the paper, errors by gold type, agreement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from evaluation.agreement import quadratic_weighted_kappa, rank_within_questions
from evaluation.bootstrap import Estimate, Interval
from evaluation.layout import Layout, Population, populations
from evaluation.metrics import (
    Floats,
    PairSums,
    absolute_error,
    chief_panel,
    exact_match,
    pearson,
    pearson_within,
    spearman,
)
from evaluation.paper_numbers import CHIEF_PANEL, ERRORS, GUARDED, PaperChiefPanel
from evaluation.scores import Scores
from evaluation.tables.table import Cell, Column, Row, Table, paper_cell
from filter_training.attacks import CLEAN


def error_table(scores: Scores, layout: Layout) -> Table:
    """Table 6: mean absolute error on all, clean and attacked answers."""
    subsets = {"all": layout.variants, "clean": (CLEAN,), "attacks": layout.attacks}
    rows = []
    for population in populations(scores, layout):
        errors = [
            PairSums.of(population.error(pipeline, variants))
            for pipeline in layout.pipelines
            for variants in subsets.values()
        ]
        papers: list[float | None] = []
        for pipeline in layout.pipelines:
            theirs = ERRORS.get((population.paper, pipeline)) if population.paper else None
            papers += [theirs.all, theirs.clean, theirs.attacks] if theirs else [None] * 3
        found = population.estimates(errors, layout)
        rows.append(Row((population.name,), tuple(map(paper_cell, found, papers))))
    return Table(
        name="table_6",
        caption=(
            "Mean absolute error (MAE) against the mean human score, in points of ten: on all "
            "variants of the answers, on the clean ones and on the attacked ones."
        ),
        keys=("Dataset",),
        columns=tuple(
            Column(f"{pipeline}: MAE {subset}")
            for pipeline in layout.pipelines
            for subset in subsets
        ),
        rows=tuple(rows),
    )


def chief_panel_table(scores: Scores, layout: Layout) -> Table:
    """Table 7: each pipeline and each rater as chief beside a panel of the others."""
    return Table(
        name="table_7",
        caption=(
            "Chief and panel on clean answers, in points of ten: mean panel size, mean absolute "
            "difference between the chief and the mean of the panel, and bias (chief − panel). "
            "An answer without removed text makes the guarded pipeline and the baseline equal, "
            "so a panel of people alone stands beside."
        ),
        keys=("Domain", "Chief", "Panel"),
        columns=(
            Column("Mean panel size", counted=False),
            Column("Chief-panel MAE"),
            Column("Bias (chief − panel)", counted=False),
        ),
        rows=tuple(
            row
            for population in populations(scores, layout)
            for row in _chief_rows(population, layout)
        ),
    )


def gold_type_table(scores: Scores, layout: Layout) -> Table:
    """MAE and exact match on clean answers by exam and gold type."""
    rows = []
    for population in populations(scores, layout):
        for gold_type in np.unique(population.scores.gold_type):
            chosen = population.scores.among(population.scores.gold_type == gold_type)
            part = Population(population.name, None, chosen)
            samples = [
                sample
                for pipeline in layout.pipelines
                for sample in (
                    PairSums.of(part.error(pipeline, (CLEAN,))),
                    PairSums.of(
                        100
                        * exact_match(
                            chosen.of_pipeline(pipeline, (CLEAN,)), chosen.gold, chosen.step
                        )
                    ),
                )
            ]
            cells = tuple(map(Cell, part.estimates(samples, layout)))
            rows.append(Row((population.name, str(gold_type)), cells))
    return Table(
        name="by_gold_type",
        caption=(
            "Clean answers by gold type: mean absolute error against the mean human score in "
            "points of ten, and the share of scores that equal it once it is rounded half up."
        ),
        keys=("Dataset", "Gold_type"),
        columns=tuple(
            Column(f"{pipeline}: {title}")
            for pipeline in layout.pipelines
            for title in ("MAE", "exact match [%]")
        ),
        rows=tuple(rows),
    )


def agreement_table(scores: Scores, layout: Layout) -> Table:
    """Agreement with people on clean answers, and of people with each other."""
    return Table(
        name="agreement",
        caption=(
            "Agreement on clean answers: of each pipeline's predicted and expected score with "
            "the mean human score, and of each two raters. κ: Cohen's kappa with quadratic "
            "weights over whole points of ten. Within questions: Pearson's r of the deviations "
            "from the question's mean, and the mean over questions of Spearman's ρ."
        ),
        keys=("Dataset", "Scores", "Against"),
        columns=(
            Column("MAE"),
            Column("κ", counted=False),
            Column("Pearson pooled", counted=False),
            Column("Spearman pooled", counted=False),
            Column("Pearson within questions", counted=False),
            Column("Spearman within questions", counted=False),
        ),
        rows=tuple(
            Row((population.name, first, second), _agreement(population, ours, theirs, layout))
            for population in populations(scores, layout)
            for first, second, ours, theirs in _compared(population, layout)
        ),
    )


def _chief_rows(population: Population, layout: Layout) -> Iterator[Row]:
    reference = layout.pipelines[0]
    pipelines = {pipeline: population.clean(pipeline) for pipeline in layout.pipelines}
    graders = {**pipelines, **population.raters}
    for chief in graders:
        raters = tuple(rater for rater in population.raters if rater != chief)
        # Where the reference is the chief, both panels are the raters.
        with_reference = raters if chief == reference else (reference, *raters)
        for panel in dict.fromkeys((with_reference, raters)):
            if panel:
                exam = population.paper
                as_in_the_paper = chief == GUARDED and panel == with_reference
                theirs = CHIEF_PANEL[exam] if exam and as_in_the_paper else None
                columns = np.column_stack([graders[name] for name in panel])
                cells = _chief_cells(population, graders[chief], columns, theirs, layout)
                yield Row((population.name, chief, ", ".join(panel)), cells)


def _chief_cells(
    population: Population,
    chief: Floats,
    panel: Floats,
    theirs: PaperChiefPanel | None,
    layout: Layout,
) -> tuple[Cell, ...]:
    result = chief_panel(chief, panel)
    samples = [result.size, np.abs(result.difference), result.difference]
    size, error, bias = population.estimates([PairSums.of(one) for one in samples], layout)
    return (
        paper_cell(Estimate(size.value, size.n, size.missing), theirs.size if theirs else None),
        Cell(error, theirs.error if theirs else None),
        paper_cell(bias, theirs.bias if theirs else None),
    )


def _compared(population: Population, layout: Layout) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Names and scores of those that a row compares."""
    for pipeline in layout.pipelines:
        yield pipeline, "mean human score", population.clean(pipeline), population.gold
        expected = population.scores.expected_of_pipeline(pipeline, (CLEAN,))
        if np.isfinite(expected).any():
            points = population.scores.on_ten(expected)[:, 0]
            yield f"{pipeline}, expected", "mean human score", points, population.gold
    for (first, ours), (second, theirs) in combinations(population.raters.items(), 2):
        yield first, second, ours, theirs


def _agreement(
    population: Population, first: Floats, second: Floats, layout: Layout
) -> tuple[Cell, ...]:
    errors = PairSums.of(absolute_error(first[:, None], second))
    [error] = population.estimates([errors], layout)
    known = np.isfinite(first) & np.isfinite(second)
    ours, theirs = first[known], second[known]
    question = population.scores.question_number[known]

    def figure(value: float, by_question: Interval | None = None) -> Cell:
        return Cell(Estimate(value, error.n, error.missing, None, by_question))

    if not known.any():
        return (Cell(error), *[figure(np.nan)] * 5)
    try:
        rank = rank_within_questions([str(one) for one in question], ours, theirs, seed=layout.seed)
        within = figure(rank.mean, Interval(rank.low, rank.high))
    except ValueError:  # no question has answers with different scores
        within = figure(np.nan)
    return (
        Cell(error),
        figure(quadratic_weighted_kappa(ours, theirs)),
        figure(pearson(ours, theirs)),
        figure(spearman(ours, theirs)),
        figure(pearson_within(question, ours, theirs)),
        within,
    )
