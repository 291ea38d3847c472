"""Whether all honest answers are treated alike: by style, by what people rated, one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.layout import Layout, Population, populations
from evaluation.metrics import Floats, Mask, PairSums
from evaluation.scores import Scores
from evaluation.tables.table import Cell, Column, Row, Table
from filter_training.attacks import CLEAN

EVERYBODY = "all"
"""What the row of all styles is called."""


def style_table(scores: Scores, layout: Layout) -> Table:
    """What pipelines do to honest answers of each style."""
    reference, *others = layout.pipelines
    variants = {"clean": (CLEAN,), **({"benign": layout.benign} if layout.benign else {})}
    columns = [
        *(
            Column(f"{pipeline}: {kind} untouched [%]", counted=kind == "clean")
            for pipeline in layout.pipelines
            for kind in variants
        ),
        *(Column(f"{pipeline} − {reference}: clean score") for pipeline in others),
    ]
    rows = []
    for population in populations(scores, layout):
        figures = [
            *(
                100 * population.scores.untouched(pipeline, names)
                for pipeline in layout.pipelines
                for names in variants.values()
            ),
            *(population.drift(pipeline, reference) for pipeline in others),
        ]
        groups = style_groups(population)
        samples = [PairSums.of(one, among=of) for of in groups.values() for one in figures]
        found = iter(population.estimates(samples, layout))
        rows += [
            Row((population.name, name, str(of.sum())), tuple(Cell(next(found)) for _ in figures))
            for name, of in groups.items()
        ]
    return Table(
        name="by_style",
        caption=(
            "Honest answers by style: the share of which nothing was removed, and the mean "
            f"change of the clean answer's score against {reference} in points of ten. Styles are "
            "told from the text by simple rules; an answer may have several."
        ),
        keys=("Dataset", "Style", "Answers"),
        columns=tuple(columns),
        rows=tuple(rows),
    )


def style_groups(population: Population) -> dict[str, Mask]:
    """All answers, then those of each style that there are [N]."""
    scores = population.scores
    by_style = dict(zip(scores.styles, scores.in_style.T, strict=True))
    everybody = np.ones(len(scores), dtype=bool)
    return {EVERYBODY: everybody, **{name: of for name, of in by_style.items() if of.any()}}


def dimension_table(scores: Scores, layout: Layout) -> Table:
    """How scores change between pipelines by what people said about the rubric's dimensions."""
    reference, *others = layout.pipelines
    rows = []
    for population in populations(scores, layout):
        drifts = [population.drift(pipeline, reference) for pipeline in others]
        groups = dict(dimension_groups(population))
        samples = [PairSums.of(drift, among=of) for of in groups.values() for drift in drifts]
        found = iter(population.estimates(samples, layout) if samples else ())
        rows += [
            Row((population.name, *group), tuple(Cell(next(found)) for _ in drifts))
            for group in groups
        ]
    return Table(
        name="by_dimension",
        caption=(
            "Mean change of the clean answer's score, in points of ten, of answers that people "
            "rated below or from the median on in each dimension of their rubric."
        ),
        keys=("Dataset", "Dimension", "Rated"),
        columns=tuple(Column(f"{pipeline} − {reference}: clean score") for pipeline in others),
        rows=tuple(rows),
    )


def dimension_groups(population: Population) -> Iterator[tuple[tuple[str, str], Mask]]:
    """(dimension, half) and the answers [N] of each half that has any."""
    scores = population.scores
    for name, values in zip(scores.dimensions, scores.dimension.T, strict=True):
        known = np.isfinite(values)
        if known.any():
            median = np.median(values[known])
            halves = {"below the median": values < median, "from the median on": values >= median}
            for half, of in halves.items():
                if of.any():
                    yield (name, half), of


def audit_table(scores: Scores, layout: Layout) -> Table:
    """Every span that a pipeline removed from an honest answer, by ids and offsets."""
    reference = layout.pipelines[0]
    rows = []
    for pipeline in layout.pipelines:
        for variant in (CLEAN, *layout.benign):
            [spans_of_answers] = zip(*scores.removed_spans(pipeline, (variant,)), strict=True)
            change = scores.of_pipeline(pipeline, (variant,))[:, 0] - _scores(scores, reference)
            rows += [
                Row(
                    (*_ids(scores, place), variant, pipeline),
                    (
                        ", ".join(f"{start}–{end}" for start, end in spans),
                        str(sum(end - start for start, end in spans)),
                        "" if np.isnan(change[place]) else f"{change[place]:+z.2f}",
                    ),
                )
                for place, spans in enumerate(spans_of_answers)
                if spans
            ]
    return Table(
        name="removed_from_honest",
        caption=(
            "What was removed from honest answers: [start, end) of each span in code points of "
            "the variant that was graded, and how its score differs from the one that "
            f"{reference} gives to the clean answer, in the question's own points."
        ),
        keys=("Dataset", "Question", "Answer", "Variant", "Pipeline"),
        columns=(Column("Removed"), Column("Characters"), Column("Score change")),
        rows=tuple(rows),
    )


def _scores(scores: Scores, pipeline: str) -> Floats:
    return scores.of_pipeline(pipeline, (CLEAN,))[:, 0]


def _ids(scores: Scores, place: int) -> tuple[str, str, str]:
    return str(scores.exam[place]), str(scores.question[place]), str(scores.answer[place])
