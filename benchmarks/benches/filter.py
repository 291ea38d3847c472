"""The filter beside the one of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from benchmarks.bench import Measured
from benchmarks.measure import Seconds, milliseconds, race, timed
from benchmarks.peer import PaperPipeline
from benchmarks.plan import Plan
from benchmarks.results import Row, faster
from benchmarks.subject import Subject, open_subject
from benchmarks.texts import Text, always, clean, draw, never, read_items

TITLE = "cleaning an answer"
ABOUT = """\
Real answers of two courses, as many of each, clean and with the paper's four attacks in turn. Ours
filters them as `steadyeval filter` does, from a newly loaded model that has seen none of the
questions. The peer is greedy `generate` with the same weights, adapter and prompts, which writes
the tokens of a right cleaned answer (at most 256). Where it writes in batches, answers of like
length are together."""

_COURSES = ("ML_nn", "CN_saf")
_TEXTS = {"clean": never, "attacked": always}
_BATCH = 16
_ASKED = {"clean": (10.0, 4.0), "attacked": (6.0, 3.0)}
"""How many times as fast as one by one, and as in batches."""


def run(plan: Plan) -> Measured:
    """Measure clean and attacked answers."""
    exams = {name: read_items(plan.exams, name) for name in _COURSES}
    found = [items for items in exams.values() if items is not None]
    skipped = tuple(
        f"{name}: there is no {name}.jsonl in the folder of exams"
        for name, items in exams.items()
        if items is None
    )
    if not found:
        return Measured((), skipped)
    rows: list[Row] = []
    sizes = plan.sizes
    with open_subject(plan) as subject:
        peer = PaperPipeline(subject.language_model())
        for label, choose in _TEXTS.items():
            drawn = [
                draw(items, choose, sample=sizes.sample // len(_COURSES), whole=sizes.whole)
                for items in found
            ]
            sample = list(chain.from_iterable(each.sample for each in drawn))
            whole = list(chain.from_iterable(each.whole for each in drawn))
            rows += _compare(subject, peer, label, sample, whole, sizes.rounds)
        return Measured(tuple(rows), skipped, str(subject))


def _compare(
    subject: Subject,
    peer: PaperPipeline,
    label: str,
    sample: Sequence[Text],
    whole: Sequence[Text],
    rounds: int,
) -> Iterator[Row]:
    repeats = race(
        {
            "sample": lambda: _ours(subject, sample),
            "whole": lambda: _ours(subject, whole),
            "one": lambda: timed(lambda: peer.filter(sample, 1)),
            "batches": lambda: timed(lambda: peer.filter(sample, _BATCH)),
        },
        rounds,
    )
    one = milliseconds(repeats["one"], len(sample))
    batches = milliseconds(repeats["batches"], len(sample))
    one_by_one, in_batches = _ASKED[label]
    for name, texts in (("sample", sample), ("whole", whole)):
        times = milliseconds(repeats[name], len(texts))
        ratios = (
            faster(times, one, "one by one", one_by_one),
            faster(times, batches, f"batches of {_BATCH}", in_batches),
        )
        what = f"SteadyEval, {len(texts)} answers"
        yield Row(case=label, what=what, unit="ms/answer", samples=times, ratios=ratios)
    for words, times in (("one by one", one), (f"batches of {_BATCH}", batches)):
        what = f"`generate`, {words}, {len(sample)} answers"
        yield Row(case=label, what=what, unit="ms/answer", samples=times)


def _ours(subject: Subject, texts: Sequence[Text]) -> Seconds:
    with subject.pipeline() as pipeline:
        return timed(lambda: clean(pipeline, texts))
