"""Answers that no other request has, so that a doubled record shows."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from service.api import examples

EXAM_ID = "soak"
_numbers = count()


def question() -> dict[str, Any]:
    """A question as a request carries it."""
    return {**examples.GRADE_REQUEST["question"], "dataset": EXAM_ID}


def grade_body() -> dict[str, Any]:
    """A request of POST /grade."""
    return {"question": question(), "answer": _answer()}


def batch_body(answers: int) -> bytes:
    """An upload of POST /batches."""
    records = ({**question(), **_answer()} for _ in range(answers))
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def _answer() -> dict[str, str]:
    number = next(_numbers)
    return {
        "answer_id": f"a{number}",
        "student_id": f"s{number % 50}",
        "student_answer": f"Answer number {number} keeps a table of ports and addresses.",
    }
