"""The results of a batch as JSON Lines or CSV, written while they are read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from service.api.lines import GradedLine, UngradedLine
from service.jobs import Ungraded
from service.pipeline import GradedAnswer

_Result = GradedAnswer | Ungraded

COLUMNS = (
    "exam_id",
    "question_id",
    "answer_id",
    "student_id",
    "attack_type",
    "status",
    "review_reasons",
    "final_score",
    "max_points",
    "baseline_score",
    "provisional",
    "removed_spans",
    "judgement_id",
    "reason",
    "detail",
)
"""Columns of the CSV file."""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def json_lines(results: Iterable[_Result]) -> Iterator[str]:
    """A line for each answer: a response of POST /grade behind the names of its answer."""
    for result in results:
        yield f"{_line(result).model_dump_json()}\n"


def csv_lines(results: Iterable[_Result]) -> Iterator[str]:
    """A header, and a line for each answer, with dot decimals and ended by CR LF."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, restval="", extrasaction="ignore")
    writer.writeheader()
    for result in results:
        yield _taken(buffer)
        cells = _cells(_line(result))
        writer.writerow({name: harmless(value) for name, value in cells.items()})
    yield _taken(buffer)


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: one that looks so gets a `'` before it."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def _line(result: _Result) -> GradedLine | UngradedLine:
    return UngradedLine.of(result) if isinstance(result, Ungraded) else GradedLine.of(result)


def _cells(line: GradedLine | UngradedLine) -> dict[str, Any]:
    cells = dict(line)
    if isinstance(line, GradedLine):
        cells |= {
            "review_reasons": " ".join(line.review_reasons),
            "baseline_score": line.judgements.baseline.predicted_score,
            "provisional": "true" if line.provisional else "false",
            "removed_spans": len(line.removed_spans),
            "judgement_id": line.judgements.filtered.judgement_id,
        }
    return cells


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
