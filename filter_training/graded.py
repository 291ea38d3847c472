"""Examples for the grader: how much of the full score an answer earns."""

from __future__ import annotations

from dataclasses import dataclass

from filter_training.examples import Example
from service.exam import Question, format_score
from service.prompts import ANSWER_CUE, grading_prompt


@dataclass(frozen=True)
class GradedExample(Example):
    """An example whose target is a score line.

    Attributes:
        fraction: how far the score of the answer lies from the lowest valid one (0) to the
            highest (1).
    """

    fraction: float


def score_line(value: float) -> str:
    """The line that a grader ends with."""
    return f"{ANSWER_CUE} {format_score(value)}"


def graded_example(
    question: Question, answer: str, score: float, *, group_id: str, attack_type: str
) -> GradedExample:
    """An example for a grader that marks.

    Args:
        question: the question with its scale.
        answer: what the student wrote.
        score: the mean of the raters, or what the rubric says.
        group_id: examples of one group stay in one split.
        attack_type: where the score comes from.
    """
    scale = question.scale
    nearest = min(scale.scores(), key=lambda value: (abs(value - score), -value))
    return GradedExample(
        group_id=group_id,
        attack_type=attack_type,
        prompt=grading_prompt(question, answer, justify=False),
        target=score_line(nearest),
        fraction=(score - scale.min_score) / (scale.max_points - scale.min_score),
    )
