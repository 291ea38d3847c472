"""Grading an exam beside the procedure of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.bench import Measured
from benchmarks.measure import Seconds, milliseconds, race, timed
from benchmarks.peer import PaperPipeline
from benchmarks.plan import Plan
from benchmarks.results import Row, faster
from benchmarks.subject import Subject, open_subject
from benchmarks.texts import Drawn, Text, draw, grade, one_in_five, read_items

TITLE = "grading an exam, three Judgements an answer"
ABOUT = """\
An exam in which the paper's attacks stand in one answer of five. Ours grades it as
`steadyeval grade` does, ledger included, from a newly loaded model that has seen none of the
questions. The peer is the paper's procedure with the same weights: for each answer three calls of
greedy `generate`, one after the other. Scores: the grader of the profile, the peer writes
`Answer: N`. Justifications: the bare base grades and writes at most 64 tokens; ours ends a text
with its `Answer:` line, the peer with the turn."""

COURSE = "ML_nn"
JUSTIFICATION_TOKENS = 64
_ASKED = 8.0


def run(plan: Plan) -> Measured:
    """Measure scores and justifications."""
    items = read_items(plan.exams, COURSE)
    if items is None:
        return Measured((), (f"there is no {COURSE}.jsonl in the folder of exams",))
    sizes = plan.sizes
    drawn = draw(items, one_in_five, sample=sizes.sample, whole=sizes.whole)
    with open_subject(plan) as subject:
        rows = [
            *_scores(subject, drawn, sizes.rounds),
            *_justifications(subject.justifying(JUSTIFICATION_TOKENS), drawn, sizes.rounds),
        ]
        return Measured(tuple(rows), model=str(subject))


def _scores(subject: Subject, drawn: Drawn, rounds: int) -> Iterator[Row]:
    peer = PaperPipeline(subject.language_model())
    yield from _compare("scores", subject, drawn, lambda: peer.grade(drawn.sample), rounds)


def _justifications(subject: Subject, drawn: Drawn, rounds: int) -> Iterator[Row]:
    peer = PaperPipeline(subject.language_model())
    yield from _compare(
        "justifications",
        subject,
        drawn,
        lambda: peer.justify(drawn.sample, JUSTIFICATION_TOKENS),
        rounds,
    )


def _compare(
    label: str, subject: Subject, drawn: Drawn, theirs: Callable[[], None], rounds: int
) -> Iterator[Row]:
    repeats = race(
        {
            "sample": lambda: grading_time(subject, drawn.sample),
            "whole": lambda: grading_time(subject, drawn.whole),
            "peer": lambda: timed(theirs),
        },
        rounds,
    )
    peer = milliseconds(repeats["peer"], len(drawn.sample))
    case = f"{COURSE}, {label}"
    for name, texts in (("sample", drawn.sample), ("whole", drawn.whole)):
        times = milliseconds(repeats[name], len(texts))
        ratio = faster(times, peer, "the paper's procedure", _ASKED)
        what = f"SteadyEval, {len(texts)} answers"
        yield Row(case=case, what=what, unit="ms/answer", samples=times, ratios=(ratio,))
    what = f"three calls of `generate`, {len(drawn.sample)} answers"
    yield Row(case=case, what=what, unit="ms/answer", samples=peer)


def grading_time(subject: Subject, texts: Sequence[Text]) -> Seconds:
    """How long ours takes to grade texts, from a newly loaded model."""
    with subject.pipeline() as pipeline:
        return timed(lambda: grade(pipeline, texts))
