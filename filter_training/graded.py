"""Examples for the grader: how likely each valid score of an answer shall be.

A human score is an opinion, and the next score on the scale is nearly as good. So the model is
taught a distribution around it, and not that every other score is equally wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from filter_training.examples import Example
from service.exam import Question, format_score
from service.prompts import ANSWER_CUE, grading_prompt


@dataclass(frozen=True)
class GradedExample(Example):
    """An example whose target is a score line.

    Attributes:
        score: the score that the answer shall have, with decimals.
        odds: (score, probability) for each valid score, ascending.
    """

    score: float
    odds: tuple[tuple[float, float], ...]

    @property
    def fraction(self) -> float:
        """How far `score` lies from the lowest valid score (0) to the highest (1)."""
        lowest, highest = self.odds[0][0], self.odds[-1][0]
        return (self.score - lowest) / (highest - lowest)

    @property
    def lines(self) -> list[str]:
        """The score line of each valid score."""
        return [score_line(value) for value, _ in self.odds]


def score_line(value: float) -> str:
    """The line that a grader ends with."""
    return f"{ANSWER_CUE} {format_score(value)}"


def graded_example(
    question: Question,
    answer: str,
    score: float,
    *,
    spread: float,
    group_id: str,
    attack_type: str,
    justify: bool,
) -> GradedExample:
    """An example whose scores are likely as a normal density around `score` says.

    Args:
        question: the question with its scale.
        answer: what the student wrote.
        score: the mean of the raters, or what the rubric says.
        spread: standard deviation in points of a scale from 1 to 10; 0 for all or nothing.
        group_id: examples of one group stay in one split.
        attack_type: where the score comes from.
        justify: whether the prompt asks for a justification.
    """
    scale = question.scale
    values = scale.scores()
    nearest = min(values, key=lambda value: (abs(value - score), -value))
    deviation = spread * (scale.max_points - scale.min_score) / 9
    if deviation:
        weights = [math.exp(-(((value - score) / deviation) ** 2) / 2) for value in values]
    else:
        weights = [float(value == nearest) for value in values]
    total = sum(weights)
    return GradedExample(
        group_id=group_id,
        attack_type=attack_type,
        prompt=grading_prompt(question, answer, justify=justify),
        target=score_line(nearest),
        score=score,
        odds=tuple((value, weight / total) for value, weight in zip(values, weights, strict=True)),
    )
