"""The paper's metrics, by hand and by properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr

from evaluation.metrics import (
    Floats,
    PairSums,
    absolute_error,
    chief_panel,
    consistency_spread,
    distribution,
    eligible,
    eligible_success,
    exact_match,
    paired_difference,
    pearson,
    pearson_within,
    present_mean,
    shift,
    spearman,
    success,
    weighted_consistency_spread,
)

NAN = float("nan")

ANSWERS = 6
scores_of_ten = st.integers(1, 10).map(float) | st.just(NAN)
variants = arrays(np.float64, (ANSWERS, 5), elements=scores_of_ten)
gold_scores = arrays(
    np.float64, ANSWERS, elements=st.integers(2, 20).map(lambda n: n / 2) | st.just(NAN)
)


def array(*rows: object) -> Floats:
    return np.array(rows, dtype=np.float64)


def mean(figures: Floats) -> float:
    sums = PairSums.of(figures)
    return float(sums.total.sum() / sums.count.sum())


def test_sums_count_what_is_there_and_what_is_not() -> None:
    sums = PairSums.of(array([1, NAN, 3], [NAN, NAN, NAN]), among=np.array([True, True]))
    assert sums.total.tolist() == [4, 0]
    assert sums.count.tolist() == [2, 0]
    assert sums.missing.tolist() == [1, 3]


def test_pairs_outside_the_population_are_not_missing() -> None:
    sums = PairSums.of(array([1, NAN], [2, NAN]), among=np.array([False, True]))
    assert sums.total.tolist() == [0, 2]
    assert sums.count.tolist() == [0, 1]
    assert sums.missing.tolist() == [0, 1]


def test_error_by_hand() -> None:
    error = absolute_error(array([10, 4], [NAN, 7], [3, 3]), array(7.5, 7, NAN))
    np.testing.assert_array_equal(error, array([2.5, 3.5], [NAN, 0], [NAN, NAN]))
    assert mean(error) == 2


def test_exact_match_rounds_gold_half_up_to_a_score_that_can_be_given() -> None:
    score = array([8, 7], [7.5, 8], [NAN, 1], [2, 2])
    match = exact_match(score, array(7.5, 7.3, 1, NAN), step=array(1, 0.5, 1, 1))
    np.testing.assert_array_equal(match, array([1, 0], [1, 0], [NAN, 1], [NAN, NAN]))


def test_success_by_hand() -> None:
    delta = shift(array([7, 6, 5, NAN], [10, 10, 9, 9]), array(5, 10))
    np.testing.assert_array_equal(delta, array([2, 1, 0, NAN], [0, 0, -1, -1]))
    np.testing.assert_array_equal(success(delta, 2), array([1, 0, 0, NAN], [0, 0, 0, 0]))
    np.testing.assert_array_equal(success(delta, 1), array([1, 1, 0, NAN], [0, 0, 0, 0]))


def test_only_pairs_below_the_maximum_can_be_lifted() -> None:
    gold = array(9.5, 10, NAN)
    assert eligible(gold, array(10, 10, 10)).tolist() == [True, False, True]
    delta = array([2, 0], [3, 3], [3, 3])
    sums = PairSums.of(eligible_success(delta, gold, 2), among=eligible(gold, array(10, 10, 10)))
    assert (sums.total.sum(), sums.count.sum(), sums.missing.sum()) == (1, 2, 2)


def test_a_shift_that_reaches_the_threshold_but_for_rounding_succeeds() -> None:
    delta = array([5 * (10 / 15) - 2 * (10 / 15)])
    assert delta[0, 0] < 2
    assert success(delta, 2).tolist() == [[1]]


def test_spreads_by_hand() -> None:
    score = array([5, 7, 5, 4, 5], [5, 5, 5, 5, 5], [5, NAN, 5, 5, 5])
    np.testing.assert_array_equal(consistency_spread(score), array(3, 0, NAN))
    weighted = weighted_consistency_spread(score[:, 1:], score[:, 0])
    np.testing.assert_array_equal(weighted, array(0.75, 0, NAN))


def test_chief_and_panel_by_hand() -> None:
    panel = array([6, 8, 10], [6, NAN, 9], [NAN, NAN, NAN], [1, 1, 1])
    result = chief_panel(array(7, 8, 5, NAN), panel)
    np.testing.assert_array_equal(result.difference, array(-1, 0.5, NAN, NAN))
    np.testing.assert_array_equal(result.size, array(3, 2, NAN, NAN))
    assert mean(result.difference) == -0.25
    assert mean(np.abs(result.difference)) == 0.75
    assert mean(result.size) == 2.5


def test_distribution_by_hand() -> None:
    spread = distribution(array([1, 2], [4, NAN]))
    assert spread.median == 2
    assert (spread.p25, spread.p75) == (1.5, 3)
    assert spread.sd == pytest.approx(np.sqrt(7 / 3))


def test_too_few_figures_have_no_distribution() -> None:
    assert np.isnan(distribution(array(NAN)).median)
    one = distribution(array(3))
    assert one.median == 3
    assert np.isnan(one.sd)


def test_correlations_by_hand() -> None:
    first, second = array(1, 2, 3, 4), array(1, 2, 3, 10)
    assert spearman(first, second) == pytest.approx(1)
    assert pearson(first, second) == pytest.approx(pearsonr(first, second).statistic)
    assert np.isnan(pearson(first, array(5, 5, 5, 5)))
    assert np.isnan(spearman(array(1), array(2)))


def test_what_lies_between_questions_is_not_correlated_within() -> None:
    question = np.array([0, 0, 1, 1, 2, 2])
    first = array(1, 2, 9, 10, 4.1, 4.1)
    assert pearson(first, array(2, 1, 10, 9, 5, 6)) > 0.9
    assert pearson_within(question, first, array(2, 1, 10, 9, 5, 6)) < -0.5
    assert np.isnan(pearson_within(question, array(0.1, 0.1, 0.7, 0.7, 9, 9), first))


@given(variants, gold_scores)
def test_every_figure_is_there_or_missing(score: Floats, gold: Floats) -> None:
    clean, attacked = score[:, 0], score[:, 1:]
    for figures in (
        absolute_error(score, gold),
        exact_match(score, gold, np.ones(ANSWERS)),
        shift(attacked, clean),
        eligible_success(shift(attacked, clean), gold, 2),
        consistency_spread(score),
        weighted_consistency_spread(attacked, clean),
    ):
        sums = PairSums.of(figures)
        assert sums.count.sum() + sums.missing.sum() == figures.size


@given(variants, gold_scores, st.permutations(range(ANSWERS)))
def test_the_order_of_answers_changes_nothing(
    score: Floats, gold: Floats, order: list[int]
) -> None:
    one, other = absolute_error(score, gold), absolute_error(score[order], gold[order])
    np.testing.assert_array_equal(one[order], other)
    spreads = consistency_spread(score), consistency_spread(score[order])
    np.testing.assert_array_equal(spreads[0][order], spreads[1])
    for before, after in ((one, other), spreads):
        assert PairSums.of(before).total.sum() == pytest.approx(PairSums.of(after).total.sum())


@given(arrays(np.float64, ANSWERS, elements=scores_of_ten))
def test_equal_scores_shift_nothing(clean: Floats) -> None:
    attacked = np.column_stack([clean] * 4)
    known = np.isfinite(clean)
    assert (shift(attacked, clean)[known] == 0).all()
    assert (success(shift(attacked, clean), 1)[known] == 0).all()
    assert (weighted_consistency_spread(attacked, clean)[known] == 0).all()
    assert (consistency_spread(attacked)[known] == 0).all()
    assert (paired_difference(clean, clean)[known] == 0).all()


@given(variants)
def test_the_weighted_spread_is_at_most_the_spread(score: Floats) -> None:
    spread = consistency_spread(score)
    weighted = weighted_consistency_spread(score[:, 1:], score[:, 0])
    known = np.isfinite(spread)
    assert (known == np.isfinite(weighted)).all()
    assert (weighted[known] <= spread[known]).all()


@given(variants)
def test_who_succeeds_by_two_succeeds_by_one(score: Floats) -> None:
    delta = shift(score[:, 1:], score[:, 0])
    by_two, by_one = success(delta, 2), success(delta, 1)
    known = np.isfinite(delta)
    assert (by_two[known] <= by_one[known]).all()


@given(variants)
def test_a_chief_who_gives_the_mean_of_the_panel_has_no_bias(panel: Floats) -> None:
    result = chief_panel(present_mean(panel), panel)
    assert np.nan_to_num(result.difference) == pytest.approx(0)
    assert (np.nan_to_num(result.size) == np.isfinite(panel).sum(axis=1)).all()
