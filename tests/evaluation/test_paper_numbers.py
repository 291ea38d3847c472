"""The paper's figures agree with each other."""

from __future__ import annotations

import pytest

from evaluation.paper_numbers import (
    ABLATION,
    ALL_ATTACKS,
    BASELINE,
    CHIEF_PANEL,
    DRIFT,
    ERRORS,
    EXAMS,
    GUARDED,
    SHIFT,
    SPREAD,
    SUCCESS,
    PaperExam,
    PaperFigure,
)
from filter_training.attacks import PAPER_ATTACKS

PIPELINES = (BASELINE, GUARDED)
FIGURES: list[PaperFigure] = [
    *(row.mean for table in (SHIFT, SPREAD) for row in table.values()),
    *(
        figure
        for success in (SUCCESS, ABLATION)
        for row in success.values()
        for figure in (row.shift, row.by_two, row.by_one)
        if figure is not None
    ),
    *(row.error for row in CHIEF_PANEL.values()),
]


@pytest.mark.parametrize("figure", FIGURES, ids=str)
def test_a_figure_lies_in_its_interval(figure: PaperFigure) -> None:
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low < figure.value < figure.high


def test_no_row_is_left_out() -> None:
    both = {(exam, pipeline) for exam in PaperExam for pipeline in PIPELINES}
    assert set(SHIFT) == set(SPREAD) == set(ERRORS) == both
    assert set(SUCCESS) == {
        (attack, pipeline) for attack in PAPER_ATTACKS for pipeline in PIPELINES
    }
    pooled = {(PaperExam.ALL, ALL_ATTACKS, pipeline) for pipeline in PIPELINES}
    assert set(ABLATION) == pooled | {
        (exam, attack, pipeline)
        for exam in PaperExam
        for attack in PAPER_ATTACKS
        for pipeline in PIPELINES
    }
    assert set(CHIEF_PANEL) == set(PaperExam)
    assert set(EXAMS) == set(DRIFT) == {PaperExam.ML_GOLD, PaperExam.RC_GOLD}


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_attacks_add_up_to_all_of_them(pipeline: str) -> None:
    """The mean over the attacks of table 8 is the exam's row of table 3, but for rounding."""
    for exam in PaperExam:
        shifts = [ABLATION[exam, attack, pipeline].shift.value for attack in PAPER_ATTACKS]
        assert sum(shifts) / 4 == pytest.approx(SHIFT[exam, pipeline].mean.value, abs=0.02)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_exams_add_up_to_all_answers(pipeline: str) -> None:
    weights = {exam: size.answers for exam, size in EXAMS.items()}
    pooled = sum(SHIFT[exam, pipeline].mean.value * n for exam, n in weights.items()) / 428
    assert pooled == pytest.approx(SHIFT[PaperExam.ALL, pipeline].mean.value, abs=0.02)
