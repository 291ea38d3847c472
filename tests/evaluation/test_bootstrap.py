"""Intervals of means, against scipy's bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from evaluation.bootstrap import Interval, estimates
from evaluation.metrics import Floats, PairSums, absolute_error, paired_difference

PAIRS = 60
QUESTION = np.arange(PAIRS) % 6


def drawn(seed: int) -> Floats:
    """Five scores of each pair, one in ten missing."""
    random = np.random.default_rng(seed)
    scores = random.integers(1, 11, size=(PAIRS, 5)).astype(float)
    scores[random.random(scores.shape) < 0.1] = np.nan
    return scores


def scipys(totals: Floats, counts: Floats) -> list[float]:
    ends = bootstrap(
        (totals, counts),
        lambda above, below, axis: above.sum(axis=axis) / below.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(5),
    ).confidence_interval
    return [ends.low, ends.high]


def test_intervals_are_those_of_scipy() -> None:
    gold = np.random.default_rng(9).integers(1, 11, size=PAIRS).astype(float)
    errors = [absolute_error(drawn(seed), gold) for seed in (1, 2)]
    samples = [PairSums.of(figures) for figures in (*errors, paired_difference(*errors))]
    for sample, estimate in zip(samples, estimates(samples, QUESTION, seed=1), strict=True):
        assert estimate.value == pytest.approx(sample.total.sum() / sample.count.sum())
        assert estimate.interval is not None
        assert estimate.by_question is not None
        ours = [estimate.interval.low, estimate.interval.high]
        assert ours == pytest.approx(scipys(sample.total, sample.count), abs=0.03)
        totals, counts = (
            np.array([sums[number::6].sum() for number in range(6)])
            for sums in (sample.total, sample.count)
        )
        ours = [estimate.by_question.low, estimate.by_question.high]
        assert ours == pytest.approx(scipys(totals, counts), abs=0.03)


def test_another_seed_draws_anew() -> None:
    sample = PairSums.of(drawn(1))
    first, second = (estimates([sample], QUESTION, seed=seed)[0] for seed in (1, 2))
    assert first.value == second.value
    assert first.interval != second.interval


def test_what_is_missing_is_counted() -> None:
    figures = np.array([[1, np.nan], [3, 5], [np.nan, np.nan]])
    [estimate] = estimates([PairSums.of(figures)], np.array([0, 0, 1]), seed=1)
    assert (estimate.value, estimate.n, estimate.missing) == (3, 3, 3)
    assert estimate.by_question is None  # the second question holds nothing


def test_nothing_at_all_is_no_figure() -> None:
    some = np.arange(8, dtype=np.float64).reshape(4, 2)
    nothing = np.full_like(some, np.nan)
    samples = [PairSums.of(nothing), PairSums.of(some)]
    empty, full = estimates(samples, np.array([0, 1, 0, 1]), seed=1)
    assert np.isnan(empty.value)
    assert (empty.n, empty.missing, empty.interval, empty.by_question) == (0, 8, None, None)
    assert full.interval == estimates(samples[1:], np.array([0, 1, 0, 1]), seed=1)[0].interval


def test_a_pipeline_that_is_always_one_point_below_differs_for_sure() -> None:
    first = drawn(3)
    [estimate] = estimates([PairSums.of(paired_difference(first, first - 1))], QUESTION, seed=1)
    assert estimate.value == -1
    assert (estimate.interval, estimate.missing) == (Interval(-1, -1), np.isnan(first).sum())
    assert estimate.interval is not None
    assert estimate.interval.excludes_zero


@pytest.mark.parametrize(
    ("interval", "excludes"),
    [
        (Interval(0.1, 2), True),
        (Interval(-2, -0.1), True),
        (Interval(-1, 1), False),
        (Interval(0, 1), False),
        (Interval(0, 0), False),
    ],
)
def test_the_rule_for_a_meaningful_difference(interval: Interval, excludes: bool) -> None:
    assert interval.excludes_zero == excludes


@given(st.lists(st.floats(-9, 9), min_size=2, max_size=20), st.integers(0, 5))
def test_an_interval_lies_within_the_figures(figures: list[float], seed: int) -> None:
    values = np.array(figures)
    questions = np.arange(len(values)) % 2
    [estimate] = estimates([PairSums.of(values)], questions, seed=seed)
    assert estimate.interval is not None
    assert values.min() - 1e-9 <= estimate.interval.low <= estimate.interval.high
    assert estimate.interval.high <= values.max() + 1e-9
    [again] = estimates([PairSums.of(values)], questions, seed=seed)
    assert again == estimate
