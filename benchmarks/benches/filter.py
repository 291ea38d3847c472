"""The filter beside the one of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from benchmarks.bench import Measured
from benchmarks.measure import Seconds, race
from benchmarks.peer import PaperPipeline
from benchmarks.plan import Plan
from benchmarks.results import Row, faster
from benchmarks.subject import Subject, open_subject
from benchmarks.texts import Course, Text, always, course, never, portions, read_items

TITLE = "cleaning an answer"
ABOUT = """\
Real answers, clean and with the paper's four attacks in turn. Ours filters them as
`steadyeval filter` does, from a newly loaded model that has seen none of the questions. The peer is
greedy `generate` with the same weights, adapter and prompts, which writes the tokens of a right
cleaned answer (at most 256). Where it writes in batches, answers of like length are together."""

_COURSES = ("ML_nn", "CN_saf")
_TEXTS = {"clean": never, "attacked": always}
_BATCH = 16
_ASKED = {"clean": (10.0, 4.0), "attacked": (6.0, 3.0)}
"""How many times as fast as one by one, and as in batches."""


def run(plan: Plan) -> Measured:
    """Measure both courses, clean and attacked."""
    rows: list[Row] = []
    skipped: list[str] = []
    sizes = plan.sizes
    with open_subject(plan) as subject:
        peer = PaperPipeline(subject.language_model())
        for name in _COURSES:
            items = read_items(plan.exams, name)
            if items is None:
                skipped.append(f"{name}: there is no {name}.jsonl in the folder of exams")
                continue
            for label, choose in _TEXTS.items():
                drawn = course(name, items, choose, sample=sizes.sample, whole=sizes.whole)
                rows += _compare(subject, peer, drawn, label, sizes.rounds)
        return Measured(tuple(rows), tuple(skipped), str(subject))


def _compare(
    subject: Subject, peer: PaperPipeline, drawn: Course, label: str, rounds: int
) -> Iterator[Row]:
    repeats = race(
        {
            "sample": lambda: _ours(subject, drawn.sample),
            "whole": lambda: _ours(subject, drawn.whole),
            "one": lambda: _theirs(peer, drawn.sample, 1),
            "batches": lambda: _theirs(peer, drawn.sample, _BATCH),
        },
        rounds,
    )
    counts = {name: len(drawn.sample) for name in repeats} | {"whole": len(drawn.whole)}
    times = {
        name: tuple(each.seconds * 1000 / counts[name] for each in runs)
        for name, runs in repeats.items()
    }
    one_by_one, in_batches = _ASKED[label]
    case = f"{drawn.name}, {label}"
    for name in ("sample", "whole"):
        ratios = (
            faster(times[name], times["one"], "one by one", one_by_one),
            faster(times[name], times["batches"], f"batches of {_BATCH}", in_batches),
        )
        what = f"SteadyEval, {counts[name]} answers"
        yield Row(case=case, what=what, unit="ms/answer", samples=times[name], ratios=ratios)
    for name, words in (("one", "one by one"), ("batches", f"batches of {_BATCH}")):
        what = f"`generate`, {words}, {counts[name]} answers"
        yield Row(case=case, what=what, unit="ms/answer", samples=times[name])


def _ours(subject: Subject, texts: Sequence[Text]) -> Seconds:
    with subject.pipeline() as pipeline:
        began = perf_counter()
        for portion in portions(texts):
            pipeline.clean_many([(text.question, text.answer.text) for text in portion])
        return Seconds(perf_counter() - began)


def _theirs(peer: PaperPipeline, texts: Sequence[Text], batch_size: int) -> Seconds:
    began = perf_counter()
    peer.filter(texts, batch_size)
    return Seconds(perf_counter() - began)
