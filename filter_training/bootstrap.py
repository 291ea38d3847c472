"""How far a share may be from the one of all answers: percentile bootstrap intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95

_AT_ONCE = 1_000


def ratio_intervals(
    hits: NDArray[np.float64], totals: NDArray[np.float64], *, seed: int
) -> NDArray[np.float64]:
    """For each column the interval of sum(hits) / sum(totals) when rows are drawn anew.

    Args:
        hits: one row for each answer, one column for each measure.
        totals: of the same shape; no column may be all zero.
        seed: of the draws.

    Returns:
        Low and high end of each column's interval, shape (columns, 2).
    """
    answers = len(hits)
    random = np.random.default_rng(seed)
    first_of_draw = answers * np.arange(_AT_ONCE)[:, None]
    ratios = np.empty((RESAMPLES, hits.shape[1]))
    for start in range(0, RESAMPLES, _AT_ONCE):
        drawn = first_of_draw + random.integers(answers, size=(_AT_ONCE, answers))
        times = np.bincount(drawn.ravel(), minlength=_AT_ONCE * answers).reshape(_AT_ONCE, answers)
        above, below = times @ hits, times @ totals
        # A draw of answers that hold nothing to count says nothing.
        ratios[start : start + _AT_ONCE] = np.divide(
            above, below, out=np.full_like(above, np.nan), where=below > 0
        )
    tail = (1 - CONFIDENCE) / 2
    ends: NDArray[np.float64] = np.nanquantile(ratios, [tail, 1 - tail], axis=0)
    return ends.T
