"""What a bench is, and how one is run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Protocol, cast

from benchmarks.plan import Plan
from benchmarks.results import BenchResult, Row

NAMES = ("filter", "exam", "vllm", "memory", "api", "size", "graph")
"""All benches, in the order in which they run."""


@dataclass(frozen=True)
class Measured:
    """The rows of a bench's table, what it could not measure and why, and the model."""

    rows: tuple[Row, ...]
    skipped: tuple[str, ...] = ()
    model: str = "none"


class Bench(Protocol):
    """A module of `benchmarks.benches`."""

    TITLE: str
    ABOUT: str

    def run(self, plan: Plan) -> Measured:
        """Measure."""


def run_bench(name: str, plan: Plan, command: str) -> BenchResult:
    """Run a bench by its name."""
    from benchmarks.machine import machine, versions

    bench = cast("Bench", import_module(f"benchmarks.benches.{name}"))
    began = datetime.now(UTC)
    measured = bench.run(plan)
    return BenchResult(
        title=bench.TITLE,
        about=bench.ABOUT,
        command=command,
        measured_at=began,
        machine=machine(),
        versions=versions(),
        model=measured.model,
        rows=measured.rows,
        skipped=measured.skipped,
    )
