"""Raw numbers of all benches in `results.json`, and `RESULTS.md`, which is made from them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Literal

from pydantic import BaseModel, ConfigDict

NUMBERS_FILE = "results.json"
TABLES_FILE = "RESULTS.md"
NOTES_DIR = "notes"
"""Folder of the words that belong under a bench's table, one `<bench>.md` each, if any."""

_PREFACE = """\
# Results

Written by `make bench` from the raw numbers in [results.json](results.json); what is measured and
how stands in [README.md](README.md). A bench that was not run again keeps its numbers and its date.
Times depend on the machine; what counts are ratios, each of medians of one run.
"""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Asked(_Record):
    """What a number shall be."""

    kind: Literal["at least", "at most"]
    limit: float

    def holds(self, value: float) -> bool:
        """True if `value` is as asked."""
        return value >= self.limit if self.kind == "at least" else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.kind == 'at least' else '≤'} {self.limit:g}"


class Ratio(_Record):
    """How a row compares with another one of the same run.

    Attributes:
        words: what the value is, with `{}` in its place: `{} × as fast as …`.
        value: the ratio of the medians.
        asked: what it shall be, if anything.
    """

    words: str
    value: float
    asked: Asked | None = None


class Row(_Record):
    """One thing that was measured.

    Attributes:
        case: under which conditions.
        what: what was measured.
        unit: of the samples.
        samples: one number for each repeat.
        asked: what the median shall be, if anything.
        ratios: comparisons with other rows.
    """

    case: str
    what: str
    unit: str
    samples: tuple[float, ...]
    asked: Asked | None = None
    ratios: tuple[Ratio, ...] = ()

    @property
    def median(self) -> float:
        """Of the samples."""
        return median(self.samples)


class BenchResult(_Record):
    """What one bench measured when it was last run.

    Attributes:
        title: of its table.
        about: what is measured against what.
        command: how to run it again.
        measured_at: when it began.
        machine: on what.
        versions: of Python and the libraries.
        model: which model, and how it is run.
        rows: the table.
        skipped: what could not be measured, and why.
    """

    title: str
    about: str
    command: str
    measured_at: datetime
    machine: str
    versions: dict[str, str]
    model: str
    rows: tuple[Row, ...]
    skipped: tuple[str, ...] = ()


class Results(_Record):
    """The latest result of each bench, by its name."""

    benches: dict[str, BenchResult] = {}

    @classmethod
    def read(cls, folder: Path) -> Results:
        """The results in `folder`; none where it has no file of them."""
        file = folder / NUMBERS_FILE
        return cls.model_validate_json(file.read_bytes()) if file.exists() else cls()

    def having(self, name: str, result: BenchResult) -> Results:
        """These results with a bench's new one."""
        return Results(benches={**self.benches, name: result})

    def write(self, folder: Path) -> None:
        """Write numbers and tables into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / NUMBERS_FILE, self.model_dump_json(indent=1) + "\n")
        sections = [
            section(name, result, notes=_notes(folder, name))
            for name, result in sorted(self.benches.items())
        ]
        _replace(folder / TABLES_FILE, "\n".join([_PREFACE, *sections]))


def faster(ours: Sequence[float], peers: Sequence[float], peer: str, asked: float) -> Ratio:
    """How many times as fast as a peer we are, from times of both."""
    return Ratio(
        words=f"{{}} × as fast as {peer}",
        value=median(peers) / median(ours),
        asked=Asked(kind="at least", limit=asked),
    )


def section(name: str, result: BenchResult, *, notes: str = "") -> str:
    """A bench's part of the tables file."""
    return "\n".join(_section(name, result, notes))


def _section(name: str, result: BenchResult, notes: str) -> Iterator[str]:
    versions = ", ".join(f"{library} {version}" for library, version in result.versions.items())
    yield f"## {name}: {result.title}\n"
    yield f"{result.about}\n"
    yield f"- measured {result.measured_at:%Y-%m-%d %H:%M} UTC by `{result.command}`"
    yield f"- model: {result.model}"
    yield f"- machine: {result.machine}"
    yield f"- versions: {versions}"
    yield from (f"- **not measured**: {reason}" for reason in result.skipped)
    yield ""
    yield "| case | what | median | spread | repeats | compared |"
    yield "|---|---|---:|---:|---:|---|"
    for row in result.rows:
        cells = (
            row.case,
            row.what,
            f"{_number(row.median)} {row.unit}",
            f"{_number(min(row.samples))} to {_number(max(row.samples))}",
            str(len(row.samples)),
            "<br>".join(_comparisons(row)),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    if notes:
        yield f"{notes.strip()}\n"


def _comparisons(row: Row) -> Iterator[str]:
    if row.asked:
        yield _verdict(row.asked, row.median)
    for ratio in row.ratios:
        words = ratio.words.format(f"{ratio.value:.2f}")
        yield f"{words}, {_verdict(ratio.asked, ratio.value)}" if ratio.asked else words


def _verdict(asked: Asked, value: float) -> str:
    return f"asked {asked}: {'met' if asked.holds(value) else '**missed**'}"


def _number(value: float) -> str:
    """Three digits, and all those before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _notes(folder: Path, name: str) -> str:
    file = folder / NOTES_DIR / f"{name}.md"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, file)
