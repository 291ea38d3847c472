"""Paired differences between pipelines by the paper's rule (section 2.5)."""

from __future__ import annotations

from collections.abc import Callable

from evaluation.bootstrap import Estimate, Interval
from evaluation.layout import Layout, Population, populations
from evaluation.metrics import (
    Floats,
    PairSums,
    consistency_spread,
    paired_difference,
    weighted_consistency_spread,
)
from evaluation.paper_numbers import BASELINE, DRIFT, ERRORS, GUARDED, SPREAD, PaperExam
from evaluation.scores import Scores
from evaluation.tables.table import Column, Row, Table, paper_cell
from filter_training.attacks import CLEAN


def difference_table(scores: Scores, layout: Layout) -> Table:
    """Each pipeline against the first one, on the pairs that both scored."""
    reference, *others = layout.pipelines
    measures = _measures(layout)
    rows = []
    for population in populations(scores, layout):
        for pipeline in others:
            samples = [
                PairSums.of(
                    paired_difference(figures(population, reference), figures(population, pipeline))
                )
                for figures in measures.values()
            ]
            # The paper compares its guarded pipeline with its baseline and no others.
            as_in_the_paper = (reference, pipeline) == (BASELINE, GUARDED)
            theirs = _papers(population.paper) if as_in_the_paper else {}
            rows += [
                _row(population, f"{pipeline} − {reference}", measure, estimate, theirs)
                for measure, estimate in zip(
                    measures, population.estimates(samples, layout), strict=True
                )
            ]
    return Table(
        name="paired_differences",
        caption=(
            "Paired differences between pipelines on the same pairs, in points of ten. A "
            "difference counts as practically meaningful where its 95 % interval excludes 0: the "
            "paper's rule resamples pairs; the stricter one beside it resamples questions. The "
            "paper's differences are made of its tables 5 and 6; the sign of its drift is "
            "inferred."
        ),
        keys=("Dataset", "Pipelines", "Measure"),
        columns=(
            Column("Difference"),
            Column("Meaningful by pairs"),
            Column("Meaningful by questions"),
        ),
        rows=tuple(rows),
    )


def _measures(layout: Layout) -> dict[str, Callable[[Population, str], Floats]]:
    return {
        "MAE all": lambda population, pipeline: population.error(pipeline, layout.variants),
        "MAE clean": lambda population, pipeline: population.error(pipeline, (CLEAN,)),
        "MAE attacks": lambda population, pipeline: population.error(pipeline, layout.attacks),
        "CS": lambda population, pipeline: consistency_spread(
            population.points(pipeline, layout.variants)
        ),
        "WCS": lambda population, pipeline: weighted_consistency_spread(
            population.points(pipeline, layout.attacks), population.clean(pipeline)
        ),
        "clean drift": lambda population, pipeline: population.clean(pipeline),
    }


def _row(
    population: Population,
    pipelines: str,
    measure: str,
    estimate: Estimate,
    theirs: dict[str, float],
) -> Row:
    return Row(
        (population.name, pipelines, measure),
        (
            paper_cell(estimate, theirs.get(measure)),
            _verdict(estimate.interval),
            _verdict(estimate.by_question),
        ),
    )


def _verdict(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return "yes" if interval.excludes_zero else "no"


def _papers(exam: PaperExam | None) -> dict[str, float]:
    if exam is None:
        return {}
    before, after = ERRORS[exam, BASELINE], ERRORS[exam, GUARDED]
    differences = {
        "MAE all": after.all - before.all,
        "MAE clean": after.clean - before.clean,
        "MAE attacks": after.attacks - before.attacks,
        "CS": SPREAD[exam, GUARDED].mean.value - SPREAD[exam, BASELINE].mean.value,
    }
    if exam in DRIFT:
        differences["clean drift"] = DRIFT[exam]
    return {measure: round(value, 2) for measure, value in differences.items()}
