"""How much is measured, of which model, on which answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class Sizes:
    """Counts of one mode.

    Attributes:
        rounds: repeats of what takes less than a minute.
        sample: answers that slow peers are given, and the fast path beside them.
        whole: most answers of a course that the fast path is given.
        requests: clients at once, and how many requests they send together in a round.
        exam_sizes: answers of the exams whose cost is compared, ascending.
        judgements: how many the graph holds when it is asked.
    """

    rounds: int
    sample: int
    whole: int
    requests: Mapping[int, int]
    exam_sizes: tuple[int, ...]
    judgements: int


FULL = Sizes(
    rounds=5,
    sample=40,
    whole=300,
    requests=MappingProxyType({1: 400, 8: 800, 64: 1920}),
    exam_sizes=(100, 1_000, 10_000),
    judgements=100_000,
)
QUICK = Sizes(
    rounds=2,
    sample=4,
    whole=6,
    requests=MappingProxyType({1: 4, 8: 16, 64: 64}),
    exam_sizes=(10, 20, 40),
    judgements=300,
)


@dataclass(frozen=True)
class Plan:
    """What a bench is given.

    Attributes:
        quick: tiny counts, to see whether everything runs.
        profile: the model to measure; None for a tiny random one.
        exams: folder of the exam files.
        vllm: folder of a virtual environment with vLLM.
    """

    quick: bool
    profile: str | None
    exams: Path
    vllm: Path

    @property
    def sizes(self) -> Sizes:
        """The counts of the mode."""
        return QUICK if self.quick else FULL
