from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from filter_training.bootstrap import ratio_intervals


def test_intervals_are_those_of_scipy() -> None:
    random = np.random.default_rng(3)
    totals = random.integers(1, 40, size=(60, 2)).astype(float)
    hits = np.floor(totals * random.random((60, 2)))
    ours = ratio_intervals(hits, totals, seed=1)
    for column in range(2):
        theirs = bootstrap(
            (hits[:, column], totals[:, column]),
            lambda above, below, axis: above.sum(axis=axis) / below.sum(axis=axis),
            paired=True,
            vectorized=True,
            method="percentile",
            n_resamples=10_000,
            rng=np.random.default_rng(2),
        ).confidence_interval
        assert ours[column] == pytest.approx([theirs.low, theirs.high], abs=0.01)


def test_the_same_seed_gives_the_same_interval() -> None:
    hits = np.array([[1.0], [0.0], [1.0], [1.0]])
    ones = np.ones_like(hits)
    first = ratio_intervals(hits, ones, seed=1)
    assert np.array_equal(first, ratio_intervals(hits, ones, seed=1))
    assert first[0, 0] < 0.75 < first[0, 1]


@pytest.mark.parametrize("hit", [0.0, 1.0])
def test_answers_that_are_all_alike_have_no_spread(hit: float) -> None:
    column = np.full((200, 1), hit)
    assert ratio_intervals(column, np.ones((200, 1)), seed=1).tolist() == [[hit, hit]]


def test_answers_with_nothing_to_count_do_not_disturb() -> None:
    hits, totals = np.array([[0.0], [3.0]]), np.array([[0.0], [4.0]])
    assert ratio_intervals(hits, totals, seed=1).tolist() == [[0.75, 0.75]]


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_an_interval_is_ordered_and_a_share(passed: list[bool]) -> None:
    hits = np.array(passed, dtype=float)[:, None]
    [[low, high]] = ratio_intervals(hits, np.ones_like(hits), seed=1)
    assert 0 <= low <= high <= 1
