"""Exam types: question, rubric, score scale, answer, submission (paper, sections 2.1 and 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from service.errors import InputError

UNLABELLED = "unlabelled"
"""attack_type of real answers in production: nobody knows whether they hold an attack."""


def format_score(value: float) -> str:
    """`8`, `7.5`: a score as it is written on an `Answer:` line."""
    return f"{value:g}"


@dataclass(frozen=True)
class ScoreScale:
    """The valid scores of a question: min_score, min_score + step, …, max_points."""

    min_score: float
    max_points: float
    step: float = 1.0

    def __post_init__(self) -> None:
        if self.step not in (1.0, 0.5):
            raise InputError(f"step is {self.step:g}; it must be 1 or 0.5")
        if not 0 <= self.min_score < self.max_points:
            raise InputError(
                f"min_score {self.min_score:g} must be at least 0 "
                f"and below max_points {self.max_points:g}"
            )
        if not (self.on_grid(self.min_score) and self.on_grid(self.max_points)):
            raise InputError("min_score and max_points must be multiples of step")

    def on_grid(self, value: float) -> bool:
        """True if `value` is a multiple of the step, whether or not it is in range."""
        return Fraction(value) % Fraction(self.step) == 0

    def clamp(self, value: float) -> float:
        """The nearest score in range (paper, section 2.1)."""
        return min(max(value, self.min_score), self.max_points)

    def scores(self) -> tuple[float, ...]:
        """All valid scores, ascending."""
        count = int((self.max_points - self.min_score) / self.step)
        return tuple(self.min_score + index * self.step for index in range(count + 1))


@dataclass(frozen=True)
class Criterion:
    """One entry of Gold_points: a point of the rubric and its weight."""

    text: str
    weight: int


@dataclass(frozen=True)
class Question:
    """A question with its rubric. `exam_id` is the dataset's name; ids count within the exam."""

    exam_id: str
    question_id: str
    domain: str
    text: str
    gold_answer: str
    rubric: str
    gold_type: str
    gold_points: tuple[Criterion, ...]
    banned_misconceptions: tuple[str, ...]
    scale: ScoreScale


@dataclass(frozen=True)
class Answer:
    """A student's answer to a question as it was received.

    `attack_type` is `unlabelled` in production and the name of the variant in experiments.
    """

    answer_id: str
    student_id: str
    text: str
    attack_type: str = UNLABELLED


@dataclass(frozen=True)
class HumanScore:
    """The score that one human rater gave to an answer, on the question's scale."""

    rater: str
    score: float


@dataclass(frozen=True)
class HumanDimension:
    """How one human rater judged an answer in one dimension of a rubric, such as clarity."""

    rater: str
    name: str
    value: float


@dataclass(frozen=True)
class ExamItem:
    """One line of an exam file: an answer with its question and its human scores.

    `split` is the file's own split (`train`, `val`, `test`) where it has one. `dimensions` are
    for evaluations; neither ledger nor graph keeps them.
    """

    question: Question
    answer: Answer
    human_scores: tuple[HumanScore, ...] = ()
    split: str | None = None
    dimensions: tuple[HumanDimension, ...] = ()
