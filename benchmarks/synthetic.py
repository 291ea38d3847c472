"""Exams of any size that nobody wrote: answers of real length, no two of them alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from service.exam import Answer, Criterion, ExamItem, Question, ScoreScale

QUESTIONS = 10
"""Questions of an exam, whatever its size."""

_LENGTHS = (15, 90)
_WORDS = """
address answer bit buffer cable cache channel clock code collision connection cost data delay
device error field flow frame gateway header host key lane layer link list load loop memory
message name network node order packet path peer port queue rate reader receiver record request
ring route router sender server signal socket speed state stream switch table time token topology
traffic tree value window word worker and because before each from has into is keeps never of on
only sends so than that the then through to until when which with
""".split()  # noqa: SIM905
_QUESTION = Question(
    exam_id="synthetic",
    question_id="q0",
    domain="Computer Networking",
    text="How does a network keep a fast sender from overrunning a slow receiver?",
    gold_answer=(
        "The receiver tells the sender how much space is left in its buffer. The sender never has "
        "more data on the way than that, and waits where the window is closed until it opens."
    ),
    rubric="Names the receiver's window, the limit on data on the way, and the closed window.",
    gold_type="additive",
    gold_points=(
        Criterion("The receiver announces the free space of its buffer", 4),
        Criterion("The sender limits the data on the way to the window", 4),
        Criterion("The sender waits while the window is closed", 2),
    ),
    banned_misconceptions=("Flow control protects the network from congestion",),
    scale=ScoreScale(1, 10),
)


def question(number: int, exam_id: str) -> Question:
    """One of the questions of an exam; they differ in their text."""
    return replace(
        _QUESTION,
        exam_id=exam_id,
        question_id=f"q{number}",
        text=f"Part {number}. {_QUESTION.text}",
    )


def answers(count: int, exam_id: str, *, first: int = 0) -> Iterator[ExamItem]:
    """Answers number `first` and on of an exam; every student answers every question."""
    questions = [question(number, exam_id) for number in range(QUESTIONS)]
    for number in range(first, first + count):
        random = Random(f"{exam_id} {number}")
        words = random.choices(_WORDS, k=random.randint(*_LENGTHS))
        text = f"Case {number}: {' '.join(words)}."
        answer = Answer(f"a{number}", f"s{number // QUESTIONS}", text)
        yield ExamItem(questions[number % QUESTIONS], answer)
