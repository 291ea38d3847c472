"""Results, and exam items, that tests of the benchmarks make up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from benchmarks.results import BenchResult, Row
from service.exam import Answer, ExamItem
from tests.service.exam_world import question

WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def result(*rows: Row, **fields: object) -> BenchResult:
    made = BenchResult(
        title="a bench",
        about="This beside that.",
        command="python -m benchmarks --only a",
        measured_at=WHEN,
        machine="a machine",
        versions={"Python": "3.11"},
        model="a model",
        rows=rows,
    )
    return made.model_copy(update=fields)


def items(questions: int, answers: int) -> list[ExamItem]:
    """As many answers to each question."""
    return [
        ExamItem(
            question(f"q{number}"),
            Answer(f"q{number}-a{place}", f"s{place}", f"Answer {place} to question {number}."),
        )
        for number in range(questions)
        for place in range(answers)
    ]


def variant(item: ExamItem, **fields: str) -> ExamItem:
    return replace(item, answer=replace(item.answer, **fields))
