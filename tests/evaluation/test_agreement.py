"""Agreement figures, by hand and by properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluation.agreement import (
    MonotoneCalibration,
    best_constants,
    mean_absolute_error,
    quadratic_weighted_kappa,
    rank_within_questions,
    rounded_half_up,
)


def array(*values: float) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)


def test_rank_correlation_is_the_mean_over_questions() -> None:
    questions = ["a"] * 3 + ["b"] * 3
    predicted = array(1, 2, 3, 1, 2, 3)
    human = array(5, 6, 7, 9, 8, 7)
    result = rank_within_questions(questions, predicted, human, seed=1)
    assert result.by_question == pytest.approx({"a": 1.0, "b": -1.0})
    assert result.mean == pytest.approx(0)
    assert (result.low, result.high) == pytest.approx((-1, 1))


def test_what_lies_between_questions_does_not_count() -> None:
    questions = ["a", "a", "b", "b"]
    result = rank_within_questions(questions, array(1, 2, 9, 8), array(1, 2, 9, 10), seed=1)
    assert result.mean == pytest.approx(0)


def test_questions_without_differences_are_left_out_and_named() -> None:
    questions = ["a", "a", "b", "b"]
    result = rank_within_questions(questions, array(1, 2, 3, 4), array(1, 2, 10, 10), seed=1)
    assert result.left_out == ("b",)
    assert result.mean == pytest.approx(1)
    with pytest.raises(ValueError, match="different scores"):
        rank_within_questions(["b", "b"], array(1, 2), array(10, 10), seed=1)


def test_kappa_by_hand() -> None:
    # Observed disagreement (1 + 0 + 1 + 0) / 4, expected over all pairs of marginals 1.
    first, second = array(1, 2, 2, 3), array(2, 2, 3, 3)
    observed = (1 + 0 + 1 + 0) / 4
    expected = np.mean([(a - b) ** 2 for a in first for b in second])
    assert quadratic_weighted_kappa(first, second) == pytest.approx(1 - observed / expected)


def test_halves_are_rounded_up() -> None:
    assert rounded_half_up(array(6.5, 7.4, 7.5)).tolist() == [7, 7, 8]


scores = st.lists(
    st.tuples(st.integers(2, 20).map(lambda n: n / 2), st.integers(2, 20).map(lambda n: n / 2)),
    min_size=2,
    max_size=40,
)


@given(scores, st.randoms(use_true_random=False))
def test_the_order_of_the_answers_changes_nothing(
    pairs: list[tuple[float, float]], random: object
) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = np.array(pairs), np.array(shuffled)
    assert mean_absolute_error(one[:, 0], one[:, 1]) == pytest.approx(
        mean_absolute_error(other[:, 0], other[:, 1])
    )
    kappas = [quadratic_weighted_kappa(rows[:, 0], rows[:, 1]) for rows in (one, other)]
    assert kappas[0] == pytest.approx(kappas[1], nan_ok=True)


@given(scores)
def test_equal_scores_agree_wholly(pairs: list[tuple[float, float]]) -> None:
    human = np.array([pair[1] for pair in pairs])
    assert quadratic_weighted_kappa(human, human) == 1
    assert mean_absolute_error(human, human) == 0


def test_calibration_rises_and_beats_the_constant_it_is_fitted_on() -> None:
    random = np.random.default_rng(1)
    human = random.choice([1.0, 5.0, 10.0], size=200, p=[0.2, 0.3, 0.5])
    expected = human / 2 + random.normal(0, 0.5, size=200)
    calibrate = MonotoneCalibration(expected, human)
    grid = calibrate(np.linspace(-1, 8, 50))
    assert (np.diff(grid) >= 0).all()
    constants = best_constants(human, 10)
    for constant in constants.values():
        error = mean_absolute_error(np.full_like(human, constant), human)
        assert mean_absolute_error(calibrate(expected), human) < error
