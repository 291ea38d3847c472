"""What an evaluation came to, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan

import numpy as np

from evaluation.bootstrap import Estimate
from evaluation.layout import Layout, populations
from evaluation.paper_numbers import ALL_ATTACKS
from evaluation.scores import Scores
from evaluation.tables import Table
from evaluation.tables.course_use import IN_ALL


def summary_sentences(scores: Scores, tables: Mapping[str, Table], layout: Layout) -> Iterator[str]:
    """The main figures of all exams together, pipeline by pipeline, good or bad."""
    everyone = populations(scores, layout)[-1].name
    questions = int(scores.question_number.max()) + 1
    exams = f"{len(scores.exams)} exams" if len(scores.exams) > 1 else f"the exam {everyone}"
    yield (
        f"{len(scores)} answers to {questions} questions of {exams} were graded, each clean and "
        f"in {len(scores.variants) - 1} other variants, by {_listed(layout.pipelines)}. "
        "Points are of ten; in brackets stand 95 % intervals."
    )
    missing = int(np.isnan(scores.score).sum())
    yield (
        f"{missing} of {scores.score.size} grades are missing; each table counts those it lacks."
        if missing
        else f"None of the {scores.score.size} grades is missing."
    )
    for pipeline in layout.pipelines:
        yield from _about(pipeline, everyone, tables, layout)


def _about(
    pipeline: str, everyone: str, tables: Mapping[str, Table], layout: Layout
) -> Iterator[str]:
    attacks = (everyone, ALL_ATTACKS)
    error = tables["table_6"].estimate((everyone,), f"{pipeline}: MAE clean")
    success = tables["table_8"].estimate(attacks, f"{pipeline}: ASR (Δ ≥ 2, eligible) [%]")
    change = tables["table_8"].estimate(attacks, f"{pipeline}: mean shift")
    spread = tables["table_5"].estimate((everyone,), f"{pipeline}: mean CS")
    yield (
        f"{pipeline}: on clean answers it is {_read(error)} points off the mean human score. "
        f"{_listed(layout.attacks)} change the score by {_read(change)} points on average and "
        f"lift {_read(success)} % of the scores that could rise by 2 points or more; the scores "
        f"of one answer lie {_read(spread)} points apart."
    )
    reference = layout.pipelines[0]
    if pipeline != reference:
        drift = tables["paired_differences"].estimate(
            (everyone, f"{pipeline} − {reference}", "clean drift"), "Difference"
        )
        yield f"{pipeline}: against {reference}, clean answers get {_read(drift)} points more."
    verdict = tables["course_use"].cell((everyone, pipeline, IN_ALL), "Use")
    yield f"{pipeline}: by the rules below, can its grades be used? {verdict}."


def _read(estimate: Estimate) -> str:
    if isnan(estimate.value):
        return "an unknown number of"
    ends = estimate.interval
    brackets = f" [{ends.low:z.2f}, {ends.high:z.2f}]" if ends else ""
    return f"{estimate.value:z.2f}{brackets}".replace("-", "−")


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
