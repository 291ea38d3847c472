"""How much memory the pipeline needs beside the base model that it rests on."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.bench import Measured
from benchmarks.measure import in_new_process, peak_bytes, race, timed
from benchmarks.plan import Plan
from benchmarks.results import Asked, Ratio, Row
from benchmarks.subject import Subject, open_subject
from benchmarks.texts import Text, draw, grade, one_in_five, read_items
from filter_training.sampling import by_question
from service.engine.prefix import HeadMemories
from service.prompts import grading_prompt

TITLE = "peak memory"
ABOUT = """\
The most memory that a process had resident, each in a process of its own: the base model loaded
alone, with one prompt read, and the whole pipeline that graded a sample over all questions, one
answer of five attacked, and all answers to one of them. The pipeline may keep what it read of
questions up to a limit, which is taken off before the two are compared."""

_COURSE = "ML_nn"
_ASKED = Asked(kind="at most", limit=1.15)


@dataclass(frozen=True)
class _Peak:
    seconds: float
    bytes: int


def run(plan: Plan) -> Measured:
    """Measure both."""
    items = read_items(plan.exams, _COURSE)
    if items is None:
        return Measured((), (f"there is no {_COURSE}.jsonl in the folder of exams",))
    fullest = max(by_question(items).values(), key=len)
    sample = draw(items, one_in_five, sample=0, whole=plan.sizes.sample).whole
    others = draw(fullest, one_in_five, sample=0, whole=plan.sizes.whole).whole
    known = {text.answer.answer_id for text in sample}
    texts = [*sample, *(text for text in others if text.answer.answer_id not in known)]
    with open_subject(plan) as subject:
        repeats = race(
            {
                "base": partial(in_new_process, _base_alone, subject, texts),
                "pipeline": partial(in_new_process, _pipeline, subject, texts),
            },
            plan.sizes.rounds,
        )
        return Measured(tuple(_rows(repeats, len(texts))), model=str(subject))


def _rows(repeats: dict[str, list[_Peak]], answers: int) -> list[Row]:
    peaks = {name: tuple(each.bytes / 2**20 for each in runs) for name, runs in repeats.items()}
    limit = inspect.signature(HeadMemories).parameters["most_bytes"].default / 2**20
    base = Row(case=_COURSE, what="base model alone", unit="MiB", samples=peaks["base"])
    pipeline = Row(
        case=_COURSE, what=f"pipeline, {answers} answers", unit="MiB", samples=peaks["pipeline"]
    )
    ratio = Ratio(
        words="{} × the base alone",
        value=(pipeline.median - limit) / base.median,
        asked=_ASKED,
    )
    less = Row(
        case=_COURSE,
        what=f"pipeline, less {limit:.0f} MiB for questions",
        unit="MiB",
        samples=tuple(peak - limit for peak in peaks["pipeline"]),
        ratios=(ratio,),
    )
    return [base, pipeline, less]


def _base_alone(subject: Subject, texts: Sequence[Text]) -> _Peak:
    took = timed(lambda: _read_one(subject.without_adapters(), texts))
    return _Peak(took.seconds, peak_bytes())


def _read_one(alone: Subject, texts: Sequence[Text]) -> None:
    model = alone.language_model()
    longest = max(texts, key=lambda text: len(text.answer.text))
    prompt = grading_prompt(longest.question, longest.answer.text, justify=False)
    with model.as_role(None):
        model.next_token(model.encoder.prompt_ids(prompt))


def _pipeline(subject: Subject, texts: Sequence[Text]) -> _Peak:
    with subject.pipeline() as pipeline:
        took = timed(lambda: grade(pipeline, texts))
        return _Peak(took.seconds, peak_bytes())
