"""How well scores agree with human scores: pure functions over arrays of one value an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import cohen_kappa_score

from filter_training.bootstrap import ratio_intervals

Scores = NDArray[np.float64]

_STEPS = 60
_LEAF = 10


@dataclass(frozen=True)
class WithinQuestions:
    """Rank correlation within questions.

    Attributes:
        mean: mean over the questions of Spearman's rho between predicted and human scores.
        low: lower end of the 95 % interval that resamples questions (percentile bootstrap).
        high: upper end.
        by_question: rho of each question where both scores differ between answers.
        left_out: questions where one of them is the same for all answers.
    """

    mean: float
    low: float
    high: float
    by_question: Mapping[str, float]
    left_out: tuple[str, ...]


def rank_within_questions(
    questions: Sequence[str], predicted: Scores, human: Scores, *, seed: int
) -> WithinQuestions:
    """Spearman's rho within each question, averaged over questions.

    Args:
        questions: id of each answer's question, length n.
        predicted: scores [n].
        human: scores [n].
        seed: of the bootstrap.

    Raises:
        ValueError: there is no question where both scores differ between answers.
    """
    names = np.asarray(questions)
    by_question: dict[str, float] = {}
    left_out: list[str] = []
    for name in sorted(set(questions)):
        rows = names == name
        if np.ptp(predicted[rows]) == 0 or np.ptp(human[rows]) == 0:
            left_out.append(name)
        else:
            by_question[name] = float(spearmanr(predicted[rows], human[rows]).statistic)
    if not by_question:
        raise ValueError("no question has answers with different scores")
    values = np.array(list(by_question.values()))
    ((low, high),) = ratio_intervals(values[:, None], np.ones((len(values), 1)), seed=seed)
    return WithinQuestions(
        float(values.mean()), float(low), float(high), by_question, tuple(left_out)
    )


def quadratic_weighted_kappa(predicted: Scores, human: Scores) -> float:
    """Cohen's kappa with quadratic weights over scores rounded half up (Cohen, 1968).

    Args:
        predicted: scores [n].
        human: scores [n].
    """
    first, second = rounded_half_up(predicted), rounded_half_up(human)
    if np.array_equal(first, second):
        return 1.0
    return float(cohen_kappa_score(first, second, weights="quadratic"))


def rounded_half_up(scores: Scores) -> NDArray[np.int64]:
    """Scores as the paper rounds them: 7.5 becomes 8."""
    return np.floor(scores + 0.5).astype(np.int64)


def mean_absolute_error(predicted: Scores, human: Scores) -> float:
    """Mean of |predicted - human| over n answers, in points."""
    return float(np.abs(predicted - human).mean())


class MonotoneCalibration:
    """A rising step function from expected to human scores, boosted to a small absolute error."""

    def __init__(self, expected: Scores, human: Scores) -> None:
        """Fit to n answers of which both scores are known.

        Args:
            expected: scores [n].
            human: scores [n].
        """
        self._regressor = HistGradientBoostingRegressor(
            loss="absolute_error",
            monotonic_cst=[1],
            max_iter=_STEPS,
            min_samples_leaf=_LEAF,
            early_stopping=False,
        ).fit(expected[:, None], human)

    def __call__(self, expected: Scores) -> Scores:
        """Calibrated scores [n]."""
        calibrated: Scores = self._regressor.predict(expected[:, None])
        return calibrated


def best_constants(human: Scores, maximum: float) -> dict[str, float]:
    """The constants that any grader has to beat: mean and median of `human`, and the maximum."""
    return {"mean": float(human.mean()), "median": float(np.median(human)), "maximum": maximum}
