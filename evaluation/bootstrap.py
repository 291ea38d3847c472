"""Means with their uncertainty: pairs are resampled whole, and questions beside them.

An interval is that of a ratio of sums over resampled rows, which `filter_training.bootstrap` draws:
10,000 resamples, the 2.5th to the 97.5th percentile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics import Floats, PairSums
from filter_training.bootstrap import ratio_intervals


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """The paper's rule for a paired difference that is practically meaningful."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Estimate:
    """A figure with what it rests on.

    Attributes:
        value: from the data themselves, NaN where nothing is there.
        n: how many scores or pairs it is of.
        missing: how many should have been there and were not.
        interval: when pairs are drawn anew; None where there is none.
        by_question: when questions are drawn anew; None where there are fewer than two.
    """

    value: float
    n: int
    missing: int
    interval: Interval | None = None
    by_question: Interval | None = None


def estimates(
    samples: Sequence[PairSums], question: NDArray[np.int64], *, seed: int
) -> list[Estimate]:
    """The mean of each sample; all samples are of the same N pairs and meet the same draws.

    Args:
        samples: figures of N pairs each.
        question: number of each pair's question, from 0 [N].
        seed: of the draws.
    """
    totals = np.column_stack([sample.total for sample in samples])
    counts = np.column_stack([sample.count for sample in samples])
    pairs = _intervals(totals, counts, seed)
    by_question = _intervals(_by_question(totals, question), _by_question(counts, question), seed)
    return [
        Estimate(
            value=float(sample.total.sum() / sample.count.sum()) if sample.count.any() else np.nan,
            n=int(sample.count.sum()),
            missing=int(sample.missing.sum()),
            interval=interval,
            by_question=of_questions,
        )
        for sample, interval, of_questions in zip(samples, pairs, by_question, strict=True)
    ]


def _intervals(totals: Floats, counts: Floats, seed: int) -> list[Interval | None]:
    """Of each column; None where fewer than two rows hold anything that could be drawn."""
    known = (counts > 0).sum(axis=0) > 1
    ends = iter(ratio_intervals(totals[:, known], counts[:, known], seed=seed))
    return [Interval(*map(float, next(ends))) if has else None for has in known]


def _by_question(sums: Floats, question: NDArray[np.int64]) -> Floats:
    """Sums [N, C] of pairs → sums [Q, C] of questions."""
    of_questions = np.zeros((question.max() + 1, sums.shape[1]))
    np.add.at(of_questions, question, sums)
    return of_questions
