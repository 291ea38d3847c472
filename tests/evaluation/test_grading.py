"""The check of a grader, with one whose scores are known."""

from __future__ import annotations

from evaluation.grading import course_report, grade_course, sanity
from filter_training.rubrics import as_answer, half_of_the_points
from service.engine.base import GradeCompletion, GradeRequest
from service.exam import ExamItem
from service.grader import Grader
from service.judgement import FinishReason
from service.prompts import quote
from tests.filter_training.world import items, question
from tests.service.scripted_engine import ScriptedEngine


def engine_that_knows(scores: dict[str, float], otherwise: float) -> ScriptedEngine:
    """Gives an answer its score, and is quite sure of it."""

    def grade(request: GradeRequest) -> GradeCompletion:
        score = scores.get(request.prompt.tail, otherwise)
        odds = {choice: 1.0 * (float(choice) == score) for choice in request.choices}
        return GradeCompletion(f"Answer: {score:g}\n", FinishReason.STOP, odds, None, 1.0)

    return ScriptedEngine(grade)


def human(item: ExamItem) -> float:
    return item.human_scores[0].score


def test_a_grader_that_agrees_with_people() -> None:
    exam = items()
    knows = {quote(item.answer.text): human(item) for item in exam}
    counted: list[int] = []
    graded = grade_course(Grader(engine_that_knows(knows, 1)), exam, counted.append)
    report = course_report(graded, [graded], seed=1)
    assert sum(counted) == report.answers == 12
    assert report.questions == 3
    assert (report.rank.mean, report.kappa, report.error) == (1, 1, 0)
    assert report.missing == 0
    assert report.raters is None


def test_answers_without_a_score_are_counted() -> None:
    def refuse(request: GradeRequest) -> GradeCompletion:
        lost = len(request.prompt.tail) > 80
        text = "Answer: many\n" if lost else "Answer: 4\n"
        return GradeCompletion(text, FinishReason.STOP, {"4": 1.0}, None, 1.0)

    exam = items()
    graded = grade_course(Grader(ScriptedEngine(refuse)), exam, lambda _: None)
    assert graded.missing == sum(len(quote(item.answer.text)) > 80 for item in exam) > 0
    assert len(graded.human) == len(exam) - graded.missing


def test_what_the_rubric_fixes_is_counted_apart() -> None:
    exam = items()
    half = as_answer(half_of_the_points(question(0)))
    knows = {quote(question(0).gold_answer): 9.0, quote(half): 2.0}
    made_up = sanity(Grader(engine_that_knows(knows, 1)), exam, seed=1, report=lambda _: None)
    shares = {name.split(",")[0]: (share.hits, share.total) for name, share in made_up.items()}
    assert shares["reference solution"] == (3, 3)
    assert shares["half of the points"] == (0, 3)
    hits, total = shares["answer to another question"]
    assert hits == total > 0
