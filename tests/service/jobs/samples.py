"""Answers for jobs."""

from __future__ import annotations

from service.exam import Question
from service.jobs import NewItem
from tests.service.exam_world import QUESTION


def new_item(
    number: int, text: str | None = None, question: Question = QUESTION, **fields: str
) -> NewItem:
    return NewItem(
        question=question,
        answer_id=fields.get("answer_id", f"a{number}"),
        student_id=fields.get("student_id", f"s{number}"),
        attack_type=fields.get("attack_type", "unlabelled"),
        text=f"The Moon pulls, {number}." if text is None else text,
    )


def new_items(count: int) -> list[NewItem]:
    return [new_item(number) for number in range(count)]
