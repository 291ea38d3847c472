"""Whether a profile's grader ranks answers as people do, and gives the scores that a rubric fixes.

    python -m evaluation.grading EXAM… --split test --calibrate val

On clean answers: rank correlation within questions, quadratic weighted kappa, and the error of the
expected score after a monotone calibration that is fitted on another split; beside them the best
constants and, where there are two raters, how well these agree. From the rubrics of the same
questions: the reference solution (9 or more of 10), answers to other questions of the exam (at
most 2), and points that carry half of the weight (3 to 8).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from evaluation.agreement import (
    MonotoneCalibration,
    Scores,
    WithinQuestions,
    best_constants,
    mean_absolute_error,
    quadratic_weighted_kappa,
    rank_within_questions,
)
from filter_training.rubrics import as_answer, half_of_the_points
from filter_training.sampling import by_question, unattacked
from service.errors import InputError
from service.exam import ExamItem, Question, ScoreScale
from service.grader import Grade, Grader

_AT_ONCE = 16
_STRANGERS = 8
"""Answers to other questions that each question is asked about."""
_STRANGER_CHARS = 40


@dataclass(frozen=True)
class Graded:
    """Answers of one course with their scores, one value an answer.

    `missing` counts the answers that got no score; they are in none of the arrays.
    """

    missing: int
    questions: tuple[str, ...]
    predicted: Scores
    expected: Scores
    human: Scores
    raters: tuple[Scores, ...]
    scales: tuple[ScoreScale, ...]


@dataclass(frozen=True)
class CourseReport:
    """A course's figures; errors in points.

    Attributes:
        answers: number of answers with a score.
        missing: number of answers that got none.
        questions: number of questions.
        rank: of the expected score.
        kappa: quadratic weighted kappa of the predicted score.
        error: mean absolute error of the predicted score.
        expected_error: of the expected score.
        calibrated_error: of the expected score after calibration.
        constants: name → error of always giving that score, fitted where calibration is.
        raters: the same figures between two raters, where there are two.
    """

    answers: int
    missing: int
    questions: int
    rank: WithinQuestions
    kappa: float
    error: float
    expected_error: float
    calibrated_error: float | None
    constants: Mapping[str, float]
    raters: Mapping[str, float] | None


@dataclass(frozen=True)
class Sanity:
    """How many made-up answers got a score in the range that the rubric fixes."""

    hits: int
    total: int
    scores: Mapping[str, int]


def grade_course(
    grader: Grader, items: Sequence[ExamItem], report: Callable[[int], None]
) -> Graded:
    """Grade the items of one course that have human scores, question by question.

    Raises:
        InputError: no answer has a human score and gets one of the grader.
    """
    asked = [item for pool in by_question(items).values() for item in pool if item.human_scores]
    texts = [(item.question, item.answer.text) for item in asked]
    graded = [
        (item, grade.predicted_score, grade.expected_score)
        for item, grade in zip(asked, _grades(grader, texts, report), strict=True)
        if grade.predicted_score is not None and grade.expected_score is not None
    ]
    if not graded:
        raise InputError("no answer has both a human score and one of the grader")
    scored = [item for item, _, _ in graded]
    width = min(len(item.human_scores) for item in scored)
    human = [[human.score for human in item.human_scores] for item in scored]
    return Graded(
        missing=len(asked) - len(graded),
        questions=tuple(item.question.question_id for item in scored),
        predicted=np.array([predicted for _, predicted, _ in graded]),
        expected=np.array([expected for _, _, expected in graded]),
        human=np.array([sum(scores) / len(scores) for scores in human]),
        raters=tuple(np.array([scores[rater] for scores in human]) for rater in range(width)),
        scales=tuple(item.question.scale for item in scored),
    )


def course_report(graded: Graded, calibration: Sequence[Graded], *, seed: int) -> CourseReport:
    """The figures of a course; calibrated on the answers of `calibration`, if there are any."""
    human = graded.human
    fitted_on = np.concatenate([other.human for other in calibration]) if calibration else human
    maximum = max(scale.max_points for scale in graded.scales)
    constants = best_constants(fitted_on, maximum)
    calibrated = None
    if calibration:
        expected = np.concatenate([other.expected for other in calibration])
        calibrate = MonotoneCalibration(expected, fitted_on)
        calibrated = mean_absolute_error(calibrate(graded.expected), human)
    return CourseReport(
        answers=len(human),
        missing=graded.missing,
        questions=len(set(graded.questions)),
        rank=rank_within_questions(graded.questions, graded.expected, human, seed=seed),
        kappa=quadratic_weighted_kappa(graded.predicted, human),
        error=mean_absolute_error(graded.predicted, human),
        expected_error=mean_absolute_error(graded.expected, human),
        calibrated_error=calibrated,
        constants={
            f"{name} {value:.2f}": mean_absolute_error(np.full_like(human, value), human)
            for name, value in constants.items()
        },
        raters=_between_raters(graded, seed) if len(graded.raters) == 2 else None,
    )


def sanity(
    grader: Grader, items: Sequence[ExamItem], *, seed: int, report: Callable[[int], None]
) -> dict[str, Sanity]:
    """Grade what the rubrics of the items' questions fix the score of."""
    random = Random(seed)
    pools = by_question(items)
    questions = [pool[0].question for pool in pools.values()]
    strangers: list[tuple[Question, str]] = []
    for question in questions:
        others = [
            item.answer.text
            for pool in pools.values()
            for item in pool
            if item.question.exam_id == question.exam_id
            and item.question != question
            and len(item.answer.text) >= _STRANGER_CHARS
        ]
        count = min(_STRANGERS, len(others))
        strangers += [(question, text) for text in random.sample(others, count)]
    halves = [
        (question, as_answer(half_of_the_points(question)))
        for question in questions
        if len(question.gold_points) > 1
    ]
    solutions = [(question, question.gold_answer) for question in questions if question.gold_answer]
    cases = {
        "reference solution, 9 or more": (solutions, 9, 10),
        "answer to another question, 2 or less": (strangers, 1, 2),
        "half of the points, 3 to 8": (halves, 3, 8),
    }
    return {
        name: _sanity(list(_grades(grader, texts, report)), texts, low, high)
        for name, (texts, low, high) in cases.items()
    }


def _sanity(
    grades: Sequence[Grade], texts: Sequence[tuple[Question, str]], low: float, high: float
) -> Sanity:
    """`low` and `high` are on a scale from 1 to 10, on which every score is put."""
    scores = [
        _on_ten(grade.predicted_score, question.scale)
        for grade, (question, _) in zip(grades, texts, strict=True)
        if grade.predicted_score is not None
    ]
    counts = {f"{score:g}": scores.count(score) for score in sorted(set(scores))}
    return Sanity(sum(low <= score <= high for score in scores), len(grades), counts)


def _on_ten(score: float, scale: ScoreScale) -> float:
    return 1 + 9 * (score - scale.min_score) / (scale.max_points - scale.min_score)


def _grades(
    grader: Grader, texts: Sequence[tuple[Question, str]], report: Callable[[int], None]
) -> Iterator[Grade]:
    for start in range(0, len(texts), _AT_ONCE):
        grades = grader.grade(texts[start : start + _AT_ONCE])
        report(len(grades))
        yield from grades


def _between_raters(graded: Graded, seed: int) -> dict[str, float]:
    first, second = graded.raters
    return {
        "rank correlation within questions": rank_within_questions(
            graded.questions, first, second, seed=seed
        ).mean,
        "quadratic weighted kappa": quadratic_weighted_kappa(first, second),
        "mean absolute error": mean_absolute_error(first, second),
    }


def main(
    exam: Annotated[list[Path], typer.Argument(help="Exam files, one course each.")],
    split: Annotated[str, typer.Option(help="Split to use of files that have one.")] = "test",
    calibrate: Annotated[str, typer.Option(help="Split that calibration is fitted on.")] = "val",
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 1,
    out: Annotated[Path | None, typer.Option(help="JSON file for the result.")] = None,
) -> None:
    """Check a profile's grader against human scores and rubrics."""
    from rich.progress import Progress

    from service.engine.base import Role
    from service.engine.factory import open_engine
    from service.exam_file import read_exam
    from service.settings import load_settings

    if calibrate == split:
        raise InputError(f"calibrating on {split} and measuring there says nothing")
    settings = load_settings()
    read = {path.stem: read_exam(path, max_answer_chars=settings.max_answer_chars) for path in exam}
    measured = {name: unattacked(items, split) for name, items in read.items()}
    fitted = {
        name: unattacked(items, calibrate)
        for name, items in read.items()
        if any(item.split == calibrate for item in items)
    }
    engine = open_engine(settings)
    try:
        grader = Grader(engine)
        fingerprint = engine.fingerprint(Role.GRADE)
        with Progress(console=Console(stderr=True)) as bar:
            total = sum(len(items) for items in [*measured.values(), *fitted.values()])
            task = bar.add_task("grading", total=total)

            def report(count: int) -> None:
                bar.advance(task, count)

            graded = {name: grade_course(grader, items, report) for name, items in measured.items()}
            calibration = {
                name: grade_course(grader, items, report) for name, items in fitted.items()
            }
            made_up = sanity(
                grader,
                [item for items in measured.values() for item in items],
                seed=seed,
                report=lambda _: None,
            )
    finally:
        engine.close()
    courses = {
        name: course_report(
            course,
            # A course that has no answers to calibrate on takes those of all others.
            [calibration[name]] if name in calibration else list(calibration.values()),
            seed=seed,
        )
        for name, course in graded.items()
    }
    result = {
        "profile": settings.profile,
        "fingerprint": fingerprint,
        "split": split,
        "calibrated_on": calibrate,
        "courses": {name: asdict(course) for name, course in courses.items()},
        "sanity": {name: asdict(share) for name, share in made_up.items()},
    }
    if out is not None:
        out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    _print(Console(), courses, made_up)


def _print(
    console: Console, courses: Mapping[str, CourseReport], made_up: Mapping[str, Sanity]
) -> None:
    table = Table(title="Grader on clean answers")
    for column in (
        "course",
        "answers",
        "questions",
        "rank in questions",
        "kappa",
        "MAE",
        "calibrated",
        "best constants",
        "rater and rater",
    ):
        table.add_column(column)
    for name, course in courses.items():
        rank = course.rank
        table.add_row(
            name,
            str(course.answers),
            str(course.questions),
            f"{rank.mean:.2f} [{rank.low:.2f}, {rank.high:.2f}]",
            f"{course.kappa:.2f}",
            f"{course.error:.2f}",
            "" if course.calibrated_error is None else f"{course.calibrated_error:.2f}",
            "\n".join(f"{label}: {error:.2f}" for label, error in course.constants.items()),
            "\n".join(f"{label}: {value:.2f}" for label, value in (course.raters or {}).items()),
        )
    console.print(table)
    for name, share in made_up.items():
        console.print(f"{name}: {share.hits} of {share.total}; scores {dict(share.scores)}")


if __name__ == "__main__":
    typer.run(main)
