"""What an answer of an exam costs, however large the exam is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from benchmarks.bench import Measured
from benchmarks.measure import in_new_process, milliseconds, peak_bytes, race, timed
from benchmarks.plan import Plan
from benchmarks.results import Asked, Ratio, Row
from benchmarks.subject import Subject, tiny_subject
from benchmarks.synthetic import QUESTIONS, answers
from benchmarks.texts import Text, grade

TITLE = "cost against the size of an exam"
ABOUT = """\
Exams of made-up answers, all different, to ten questions, graded as `steadyeval grade` does with
the ledger, on a tiny random model so that everything else shows. Each exam has a process of its
own, in which one answer to each question has been graded before; memory is the most that the
process had resident."""

_ASKED = Asked(kind="at most", limit=1.1)


@dataclass(frozen=True)
class _Cost:
    seconds: float
    bytes: int


def run(plan: Plan) -> Measured:
    """Measure every size."""
    sizes = plan.sizes.exam_sizes
    with tiny_subject() as subject:
        repeats = race(
            {str(size): partial(in_new_process, _grade, subject, size) for size in sizes},
            plan.sizes.rounds,
        )
        model = str(subject)
    times = {size: milliseconds(repeats[str(size)], size) for size in sizes}
    peaks = {size: tuple(each.bytes / 2**20 for each in repeats[str(size)]) for size in sizes}
    rows = [
        *_rows("time", "ms/answer", times),
        *_rows("peak memory", "MiB", peaks),
    ]
    return Measured(tuple(rows), model=model)


def _rows(what: str, unit: str, samples: dict[int, tuple[float, ...]]) -> list[Row]:
    rows = [
        Row(case=f"{size:,} answers", what=what, unit=unit, samples=found)
        for size, found in samples.items()
    ]
    return [
        row.model_copy(update={"ratios": tuple(_ratio(row, smaller) for smaller in rows[:place])})
        for place, row in enumerate(rows)
    ]


def _ratio(row: Row, smaller: Row) -> Ratio:
    words = f"{{}} × that of {smaller.case}"
    return Ratio(words=words, value=row.median / smaller.median, asked=_ASKED)


def _grade(subject: Subject, size: int) -> _Cost:
    texts = [
        Text(item.question, item.answer, item.answer.text)
        for item in answers(QUESTIONS + size, exam_id="synthetic")
    ]
    with subject.pipeline() as pipeline:
        grade(pipeline, texts[:QUESTIONS])
        took = timed(lambda: grade(pipeline, texts[QUESTIONS:]))
        return _Cost(took.seconds, peak_bytes())
