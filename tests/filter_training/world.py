"""A small invented exam to train on."""

from __future__ import annotations

import json
from pathlib import Path

from service.exam import Answer, Criterion, ExamItem, HumanScore, Question, ScoreScale

SENTENCES = (
    "A stack gives back what came last.",
    "A queue gives back what came first.",
    "Both hold elements in an order.",
    "Pushing and popping take constant time.",
)


def question(number: int) -> Question:
    return Question(
        exam_id="DS_toy",
        question_id=f"q{number}",
        domain="data structures",
        text=f"How do stack and queue differ? ({number})",
        gold_answer="A stack is last in, first out; a queue is first in, first out.",
        rubric="technical",
        gold_type="factual",
        gold_points=(Criterion("stack: last in, first out", 6), Criterion("queue: first in", 4)),
        banned_misconceptions=("A stack is sorted.",),
        scale=ScoreScale(1, 10),
    )


def items(questions: int = 3, students: int = 4) -> list[ExamItem]:
    return [
        ExamItem(
            question(number),
            Answer(
                f"q{number}-s{student}",
                f"s{student}",
                " ".join(SENTENCES[: student % len(SENTENCES) + 1]),
            ),
            (HumanScore("rater_1", float(1 + 3 * (student % 4))),),
        )
        for number in range(questions)
        for student in range(students)
    ]


def write_exam(path: Path) -> Path:
    """The items as an exam file."""
    path.write_text("\n".join(json.dumps(_record(item)) for item in items()), encoding="utf-8")
    return path


def _record(item: ExamItem) -> dict[str, object]:
    question, answer = item.question, item.answer
    return {
        "dataset": question.exam_id,
        "question_id": question.question_id,
        "domain": question.domain,
        "question": question.text,
        "Gold_answer": question.gold_answer,
        "Gold_points": [[point.text, point.weight] for point in question.gold_points],
        "rubric": question.rubric,
        "answer_id": answer.answer_id,
        "student_id": answer.student_id,
        "student_answer": answer.text,
        "human_scores": [human.score for human in item.human_scores],
    }
