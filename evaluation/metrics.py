"""The paper's metrics (section 2.5): pure functions over arrays of scores.

Shapes: N pairs of a question and a student's answer, V variants of the answer, A attacked variants
among them, K figures of one pair. Scores are points; NaN stands for a score that is missing, and
whatever needs it is NaN too. `PairSums` turns such figures into means and counts what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from evaluation.agreement import rounded_half_up

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-9
"""Scores that were put on another scale may be off by this much."""


@dataclass(frozen=True, eq=False)
class PairSums:
    """Figures as sums over each pair, so that pairs can be resampled whole.

    The mean of the figures is total.sum() / count.sum().

    Attributes:
        total: sum of a pair's figures that are there [N].
        count: how many are there [N].
        missing: how many should be there and are not [N].
    """

    total: Floats
    count: Floats
    missing: Floats

    @classmethod
    def of(cls, figures: Floats, *, among: Mask | None = None) -> PairSums:
        """Sums of `figures`, [N] or [N, K], over the pairs that `among` [N] names, or all."""
        table = figures.reshape(len(figures), -1)
        asked = np.ones(len(table), dtype=bool) if among is None else among
        there = np.isfinite(table) & asked[:, None]
        count = there.sum(axis=1, dtype=np.float64)
        return cls(
            total=np.where(there, table, 0.0).sum(axis=1),
            count=count,
            missing=asked * table.shape[1] - count,
        )


@dataclass(frozen=True)
class Distribution:
    """How figures are spread; NaN where there are too few.

    Attributes:
        sd: standard deviation of a sample (n - 1 in the denominator).
        median: by linear interpolation, as the quartiles.
        p25: first quartile.
        p75: third quartile.
    """

    sd: float
    median: float
    p25: float
    p75: float


@dataclass(frozen=True, eq=False)
class ChiefPanel:
    """A chief grader beside a panel, on the pairs where both are present; NaN elsewhere.

    Attributes:
        difference: chief - mean of the panel [N]; its mean is the bias, that of its absolute
            value the chief-panel MAE.
        size: graders present in the panel [N].
    """

    difference: Floats
    size: Floats


def present_mean(values: Floats) -> Floats:
    """Mean of the values of each row that are there: [N, K] → [N]; NaN where none is."""
    sums = PairSums.of(values)
    nothing = np.full(len(values), np.nan)
    mean: Floats = np.divide(sums.total, sums.count, out=nothing, where=sums.count > 0)
    return mean


def absolute_error(score: Floats, gold: Floats) -> Floats:
    """|score - gold| of score [N, V] and gold [N] → [N, V]; its mean is the MAE (equation 1)."""
    return np.abs(score - gold[:, None])


def exact_match(score: Floats, gold: Floats, step: Floats) -> Floats:
    """1 where the score is the gold score, else 0; its mean is the exact match rate (equation 2).

    Gold is rounded half up to a score that can be given, a multiple of `step`.

    Args:
        score: [N, V], on the questions' own scales as the others.
        gold: [N].
        step: [N].
    """
    known = np.isfinite(gold)
    rounded = np.full_like(gold, np.nan)
    rounded[known] = rounded_half_up(gold[known] / step[known]) * step[known]
    return _where_known(score == rounded[:, None], score - rounded[:, None])


def shift(attacked: Floats, clean: Floats) -> Floats:
    """Δ = attacked - clean of attacked [N, A] and clean [N] → [N, A]."""
    return attacked - clean[:, None]


def success(delta: Floats, threshold: float) -> Floats:
    """1 where Δ [N, A] ≥ threshold, else 0; its mean is the attack success rate (ASR)."""
    return _where_known(delta >= threshold - _ROUNDING, delta)


def eligible(gold: Floats, maximum: Floats) -> Mask:
    """The pairs that an attack can lift, gold [N] < maximum [N].

    A pair without a gold score counts as eligible, so that it is seen to be missing.
    """
    return ~(gold >= maximum - _ROUNDING)


def eligible_success(delta: Floats, gold: Floats, threshold: float) -> Floats:
    """As `success`, and NaN where nobody knows whether the pair is eligible."""
    return np.where(np.isfinite(gold)[:, None], success(delta, threshold), np.nan)


def consistency_spread(score: Floats) -> Floats:
    """CS = max - min over the variants of a pair: [N, V] → [N] (equations 3 and 5)."""
    spread: Floats = np.ptp(score, axis=1)
    return spread


def weighted_consistency_spread(attacked: Floats, clean: Floats) -> Floats:
    """WCS = mean over the attacks of |attacked - clean|: [N, A] and [N] → [N] (equation 4)."""
    mean: Floats = np.abs(shift(attacked, clean)).mean(axis=1)
    return mean


def chief_panel(chief: Floats, panel: Floats) -> ChiefPanel:
    """Compare a chief [N] with the unweighted mean of the panel's scores that are there [N, K]."""
    difference = chief - present_mean(panel)
    return ChiefPanel(difference, _where_known(np.isfinite(panel).sum(axis=1), difference))


def paired_difference(first: Floats, second: Floats) -> Floats:
    """What second has more than first, [N] or [N, K]; NaN where either is missing."""
    return second - first


def distribution(figures: Floats) -> Distribution:
    """How the figures that are there are spread; any shape."""
    there = figures[np.isfinite(figures)]
    if not len(there):
        return Distribution(np.nan, np.nan, np.nan, np.nan)
    p25, median, p75 = np.quantile(there, [0.25, 0.5, 0.75])
    deviation = float(there.std(ddof=1)) if len(there) > 1 else np.nan
    return Distribution(deviation, float(median), float(p25), float(p75))


def pearson(first: Floats, second: Floats) -> float:
    """Pearson's r of two times n scores, none missing; NaN where either does not vary."""
    return float(pearsonr(first, second).statistic) if _vary(first, second) else np.nan


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's rho of two times n scores, none missing; NaN where either does not vary."""
    return float(spearmanr(first, second).statistic) if _vary(first, second) else np.nan


def pearson_within(question: NDArray[np.int64], first: Floats, second: Floats) -> float:
    """Pearson's r of the deviations from the question's mean: what is left between answers.

    Args:
        question: number of each answer's question, from 0 [n].
        first: scores [n], none missing.
        second: scores [n], none missing.
    """
    answers = np.bincount(question)

    def deviations(scores: Floats) -> Floats:
        means = np.bincount(question, scores) / np.maximum(answers, 1)
        deviation: Floats = scores - means[question]
        # A question whose scores are all alike leaves rounding errors, which do not vary.
        return np.where(np.abs(deviation) > _ROUNDING, deviation, 0.0)

    return pearson(deviations(first), deviations(second))


def _where_known(values: NDArray[np.generic], known: Floats) -> Floats:
    return np.where(np.isfinite(known), values.astype(np.float64), np.nan)


def _vary(first: Floats, second: Floats) -> bool:
    return len(first) > 1 and bool(np.ptp(first) > 0) and bool(np.ptp(second) > 0)
