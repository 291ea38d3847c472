"""Grading an exam beside vLLM, which does the paper's three calls its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from benchmarks.bench import Measured
from benchmarks.benches.exam import COURSE, JUSTIFICATION_TOKENS, grading_time
from benchmarks.calls import Call, PaperCalls
from benchmarks.measure import Timed, milliseconds, race
from benchmarks.plan import Plan
from benchmarks.results import Row, faster
from benchmarks.subject import Subject, open_subject
from benchmarks.synthetic import answers
from benchmarks.texts import Text, draw, one_in_five, portions, read_items
from benchmarks.vllm_peer import Vllm, VllmRun, Wave, missing

TITLE = "grading an exam beside vLLM"
ABOUT = """\
The exam of the bench `exam`, prompts and token limits of its peer, but written by vLLM in an
environment of its own: all answers at once in three waves (filter, grade, grade what is left) with
continuous batching, prefix caching and LoRA, answers to one question together. Both sides compute
in bfloat16 with as many threads. On a CPU most of vLLM's time can go to LoRA, so it is also
measured without: what adapters merged into copies of the base would take. vLLM is given token ids;
it has loaded the model and written made-up answers before the clock starts, and its prefix cache is
empty then, as is ours."""

_OURS = "SteadyEval"
_ASKED = 1.5
_WARM_UP = 4

GradingCalls = Callable[[Text], tuple[Call, Call]]
"""The calls that grade a raw answer and what is left of it."""


def run(plan: Plan) -> Measured:
    """Measure scores and justifications."""
    items = read_items(plan.exams, COURSE)
    if items is None:
        return Measured((), (f"there is no {COURSE}.jsonl in the folder of exams",))
    if plan.profile is None:
        return Measured((), ("vLLM cannot run the tiny model, its heads are too small: --profile",))
    if reason := missing(plan.vllm):
        return Measured((), (reason,))
    sizes = plan.sizes
    drawn = draw(items, one_in_five, sample=sizes.sample, whole=sizes.whole)
    with open_subject(plan) as opened:
        subject = opened.in_bfloat16()
        model = subject.language_model()
        calls, end_ids = PaperCalls(model.encoder), model.end_ids
        del model  # Only one side's weights shall be in memory.
        justify = partial(calls.justifications, tokens=JUSTIFICATION_TOKENS)
        rows: list[Row] = []
        for label, graded, grading in (
            ("scores", subject, calls.scores),
            ("justifications", subject.justifying(JUSTIFICATION_TOKENS), justify),
        ):
            lora = _Peer(Vllm(plan.vllm, graded, end_ids), calls, grading)
            merged = _Peer(Vllm(plan.vllm, subject.without_adapters(), end_ids), calls, grading)
            sample = {"vLLM": lora, "vLLM without LoRA": merged}
            whole = {"vLLM without LoRA": merged}
            rows += _compare(label, graded, sample, drawn.sample, sizes.rounds)
            rows += _compare(label, graded, whole, drawn.whole, sizes.rounds)
        return Measured(tuple(rows), model=f"{subject}, bfloat16")


@dataclass(frozen=True)
class _Peer:
    """vLLM with the calls that grade."""

    vllm: Vllm
    calls: PaperCalls
    grading: GradingCalls

    def grade(self, texts: Sequence[Text]) -> VllmRun:
        """Filter, grade, and grade what is left."""
        made_up = [
            Text(item.question, item.answer, item.answer.text)
            for item in answers(_WARM_UP, exam_id="warm-up")
        ]
        ordered = list(chain.from_iterable(portions(texts)))
        return self.vllm.write(self._waves(ordered), warm_up=self._waves(made_up))

    def _waves(self, texts: Sequence[Text]) -> tuple[Wave, Wave, Wave]:
        raw, left = zip(*map(self.grading, texts), strict=True)
        return [self.calls.filter(text) for text in texts], raw, left


def _compare(
    label: str,
    subject: Subject,
    peers: Mapping[str, _Peer],
    texts: Sequence[Text],
    rounds: int,
) -> Iterator[Row]:
    contenders: dict[str, Callable[[], Timed]] = {
        _OURS: partial(grading_time, subject, texts),
        **{name: partial(peer.grade, texts) for name, peer in peers.items()},
    }
    repeats = race(contenders, rounds)
    times = {name: milliseconds(runs, len(texts)) for name, runs in repeats.items()}
    ratios = {_OURS: tuple(faster(times[_OURS], times[name], name, _ASKED) for name in peers)}
    for name, samples in times.items():
        yield Row(
            case=f"{COURSE}, {label}",
            what=f"{name}, {len(texts)} answers",
            unit="ms/answer",
            samples=samples,
            ratios=ratios.get(name, ()),
        )
