"""What the service adds to its engine, and how it stands many clients at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.bench import Measured
from benchmarks.measure import race
from benchmarks.plan import Plan
from benchmarks.results import Asked, Ratio, Row
from benchmarks.served import Client, grade_body, served
from benchmarks.subject import open_knowing_engine, tiny_settings
from benchmarks.synthetic import QUESTIONS, answers, question
from service.exam import ExamItem
from service.filter import AnswerFilter
from service.grader import Grader

TITLE = "`POST /grade`"
ABOUT = """\
A real uvicorn process on this machine with a tiny random model; clients are threads of one other
process, each with a connection that stays open, and send the next answer when the last one is
graded. No two answers are alike. Overhead is what a request takes, ledger commit included, beyond
filter and grader called on the same engine in the client's process, medians of the same answers."""

_EXAM = "synthetic"
_OVERHEAD = Asked(kind="at most", limit=5.0)
_TAIL = Asked(kind="at most", limit=4.0)
_SPEEDUP = Asked(kind="at least", limit=5.0)


@dataclass(frozen=True)
class _Round:
    """One round: its time, and the milliseconds of each request and of each direct call."""

    seconds: float
    requests: Sequence[float]
    direct: Sequence[float] = ()

    @property
    def per_second(self) -> float:
        return len(self.requests) / self.seconds

    @property
    def tail(self) -> float:
        return quantiles(self.requests, n=100)[-1] / median(self.requests)

    @property
    def overhead(self) -> float:
        return median(self.requests) - median(self.direct)


class _Answers:
    """New answers at every call."""

    def __init__(self) -> None:
        self._first = count(step=100_000)

    def take(self, number: int) -> list[ExamItem]:
        return list(answers(number, _EXAM, first=next(self._first)))


def run(plan: Plan) -> Measured:
    """Measure one client beside the engine, and more clients beside one."""
    with TemporaryDirectory() as home:
        settings = tiny_settings(Path(home))
        engine = open_knowing_engine(settings)
        grade_directly = partial(_directly, AnswerFilter(engine), Grader(engine))
        fresh = _Answers()
        try:
            with served(settings) as port:
                client = Client(port)
                client.register(_EXAM, [question(number, _EXAM) for number in range(QUESTIONS)])
                client.close()
                _beside(port, fresh.take(2 * QUESTIONS), grade_directly)  # warms both up
                repeats = race(
                    _contenders(port, fresh, plan.sizes.requests, grade_directly),
                    plan.sizes.rounds,
                )
        finally:
            engine.close()
    rows = [*_overhead_rows(repeats.pop("overhead")), *_load_rows(repeats)]
    return Measured(tuple(rows), model="tiny-random, filter: mark, grade: mark")


def _contenders(
    port: int,
    fresh: _Answers,
    requests: Mapping[int, int],
    grade_directly: Callable[[ExamItem], float],
) -> dict[str, Callable[[], _Round]]:
    contenders: dict[str, Callable[[], _Round]] = {
        "overhead": lambda: _beside(port, fresh.take(requests[1]), grade_directly)
    }
    for clients, number in requests.items():
        contenders[str(clients)] = partial(_load, port, fresh, clients, number)
    return contenders


def _beside(
    port: int, items: Sequence[ExamItem], grade_directly: Callable[[ExamItem], float]
) -> _Round:
    began = perf_counter()
    client = Client(port)
    requests = [client.grade(grade_body(item)) for item in items]
    client.close()
    direct = [grade_directly(item) for item in items]
    return _Round(perf_counter() - began, requests, direct)


def _directly(answer_filter: AnswerFilter, grader: Grader, item: ExamItem) -> float:
    began = perf_counter()
    [filtered] = answer_filter.clean([(item.question, item.answer.text)])
    grader.grade([(item.question, filtered.cleaned)])
    return (perf_counter() - began) * 1000


def _load(port: int, fresh: _Answers, clients: int, number: int) -> _Round:
    bodies = [grade_body(item) for item in fresh.take(number)]
    with ThreadPoolExecutor(clients) as pool:
        began = perf_counter()
        times = pool.map(partial(_send, port), [bodies[start::clients] for start in range(clients)])
        milliseconds = [each for client in times for each in client]
        return _Round(perf_counter() - began, milliseconds)


def _send(port: int, bodies: Sequence[bytes]) -> list[float]:
    client = Client(port)
    milliseconds = [client.grade(body) for body in bodies]
    client.close()
    return milliseconds


def _overhead_rows(rounds: Sequence[_Round]) -> Iterator[Row]:
    case = "one client beside the engine"
    for what, milliseconds, asked in (
        ("engine called directly, p50", [median(each.direct) for each in rounds], None),
        ("`POST /grade`, p50", [median(each.requests) for each in rounds], None),
        ("overhead, p50", [each.overhead for each in rounds], _OVERHEAD),
    ):
        yield Row(case=case, what=what, unit="ms", samples=tuple(milliseconds), asked=asked)


def _load_rows(repeats: Mapping[str, Sequence[_Round]]) -> Iterator[Row]:
    alone = median(each.per_second for each in repeats["1"])
    most = max(map(int, repeats))
    for clients, rounds in repeats.items():
        case = f"{clients} clients" if clients != "1" else "one client"
        rates = tuple(each.per_second for each in rounds)
        ratio = Ratio(
            words="{} × one client's",
            value=median(rates) / alone,
            asked=_SPEEDUP if int(clients) == most else None,
        )
        yield Row(
            case=case,
            what="throughput",
            unit="requests/s",
            samples=rates,
            ratios=() if clients == "1" else (ratio,),
        )
        p50 = tuple(median(each.requests) for each in rounds)
        yield Row(case=case, what="p50", unit="ms", samples=p50)
        tails = tuple(each.tail for each in rounds)
        yield Row(case=case, what="p99 / p50", unit="×", samples=tails, asked=_TAIL)
