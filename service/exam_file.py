"""Reads an exam file, JSONL or CSV, as a whole: all of it, or every fault that it has."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from service.errors import ExamFileError, InputError, LineError
from service.exam import ExamItem, Question
from service.exam_record import ExamRecord
from service.json_lines import Row, decode, json_rows, line_errors, parse_json, read_bytes

_CSV_SUFFIXES = {".csv", ".tsv"}
_JSONL_SUFFIXES = {".jsonl", ".ndjson"}
_DELIMITERS = ",;\t"
_COLUMNS = {
    field.alias or name: field.is_required() for name, field in ExamRecord.model_fields.items()
}
_TEXT_COLUMNS = {
    "answer_id",
    "student_id",
    "question_id",
    "dataset",
    "domain",
    "question",
    "student_answer",
    "Gold_answer",
    "rubric",
    "Gold_type",
    "attack_type",
    "split",
}
_QUESTION_COLUMNS = {
    "domain": "domain",
    "text": "question",
    "gold_answer": "Gold_answer",
    "rubric": "rubric",
    "gold_type": "Gold_type",
    "gold_points": "Gold_points",
    "banned_misconceptions": "Banned_misconceptions",
    "scale": "scale",
}
"""What a question must have the same on all its lines: attributes, and their columns."""


@dataclass(frozen=True)
class _Line:
    """An answer that is valid in itself."""

    line: int
    item: ExamItem


def read_exam(path: Path, *, max_answer_chars: int) -> list[ExamItem]:
    """All answers of an exam file, in its order.

    Args:
        path: a `.jsonl` file with one record a line, or a `.csv` file with the same columns.
        max_answer_chars: longest answer that is accepted.

    Raises:
        ExamFileError: the file has faults; it lists every one of them.
        InputError: the file cannot be opened, or is of another kind.
    """
    suffix = path.suffix.lower()
    if suffix not in _CSV_SUFFIXES | _JSONL_SUFFIXES:
        raise InputError(f"{path}: an exam file is named .jsonl or .csv")
    return parse_exam(
        read_bytes(path), path, is_csv=suffix in _CSV_SUFFIXES, max_answer_chars=max_answer_chars
    )


def parse_exam(raw: bytes, path: Path, *, is_csv: bool, max_answer_chars: int) -> list[ExamItem]:
    """All answers of the content of an exam file, in its order.

    Args:
        raw: the content.
        path: what errors call it.
        is_csv: whether it is CSV; else it is JSONL.
        max_answer_chars: longest answer that is accepted.

    Raises:
        ExamFileError: it has faults; it lists every one of them.
    """
    faults: list[LineError] = []
    text = decode(raw, faults)
    rows = _csv_rows(text, faults) if is_csv else json_rows(text, faults)
    lines = list(_valid_lines(rows, max_answer_chars, faults))
    faults += _contradictions(lines)
    if not lines and not faults:
        faults.append(LineError(1, None, "the file holds no answers"))
    if faults:
        raise ExamFileError(path, sorted(faults, key=lambda fault: fault.line))
    return [line.item for line in lines]


def _csv_rows(text: str, faults: list[LineError]) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if not any(cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                if header_faults := _header_faults(header, line):
                    faults += header_faults
                    return
            elif len(cells) != len(header):
                reason = f"has {len(cells)} cells, but the header has {len(header)}"
                faults.append(LineError(line, None, reason))
            else:
                yield from _csv_row(line, dict(zip(header, cells, strict=True)), faults)
    except csv.Error as error:
        reason = f"is not valid CSV, and nothing after it was read: {error}"
        faults.append(LineError(start, None, reason))


def _delimiter(text: str) -> str:
    """The delimiter that finds the most of our columns in the first line."""
    first_line = text.lstrip().split("\n", 1)[0]
    return max(
        _DELIMITERS,
        key=lambda delimiter: sum(
            cell.strip(' "\r') in _COLUMNS for cell in first_line.split(delimiter)
        ),
    )


def _header_faults(header: list[str], line: int) -> list[LineError]:
    missing = [name for name, required in _COLUMNS.items() if required and name not in header]
    doubled = sorted({name for name in header if name in _COLUMNS and header.count(name) > 1})
    return [
        *(LineError(line, name, "the header lacks this column") for name in missing),
        *(LineError(line, name, "the header has this column twice") for name in doubled),
    ]


def _csv_row(line: int, cells: dict[str, str], faults: list[LineError]) -> Iterator[Row]:
    values: dict[str, Any] = {}
    sound = True
    for name, cell in cells.items():
        if name not in _COLUMNS or (not cell and not _COLUMNS[name]):
            continue
        if name in _TEXT_COLUMNS:
            values[name] = cell
            continue
        try:
            values[name] = parse_json(cell)
        except (ValueError, RecursionError) as error:
            sound = False
            reason = f"write a number as 7.5 and a list as JSON in the cell: {error}"
            faults.append(LineError(line, name, reason))
    if sound:
        yield Row(line, values)


def _valid_lines(
    rows: Iterable[Row], max_answer_chars: int, faults: list[LineError]
) -> Iterator[_Line]:
    context = {"max_answer_chars": max_answer_chars}
    for row in rows:
        try:
            record = ExamRecord.model_validate(row.values, context=context)
        except ValidationError as error:
            faults += line_errors(row.line, error)
        else:
            yield _Line(row.line, record.to_item())


def _contradictions(lines: list[_Line]) -> Iterator[LineError]:
    """Faults that show only between lines."""
    questions: dict[tuple[str, str], tuple[int, Question]] = {}
    answers: dict[tuple[str, str], tuple[int, ExamItem]] = {}
    variants: dict[tuple[str, str, str], int] = {}
    for line, item in ((entry.line, entry.item) for entry in lines):
        question, answer = item.question, item.answer
        first_line, first = questions.setdefault(
            (question.exam_id, question.question_id), (line, question)
        )
        if question != first:
            names = ", ".join(
                column
                for attribute, column in _QUESTION_COLUMNS.items()
                if getattr(question, attribute) != getattr(first, attribute)
            )
            reason = f"{question.question_id!r} is on line {first_line} with another {names}"
            yield LineError(line, "question_id", reason)
        owner_line, owner = answers.setdefault((question.exam_id, answer.answer_id), (line, item))
        if (owner.question.question_id, owner.answer.student_id) != (
            question.question_id,
            answer.student_id,
        ):
            reason = f"{answer.answer_id!r} is on line {owner_line} for another question or student"
            yield LineError(line, "answer_id", reason)
        variant = (question.exam_id, answer.answer_id, answer.attack_type)
        if (twin := variants.setdefault(variant, line)) != line:
            reason = (
                f"{answer.answer_id!r} with attack_type {answer.attack_type!r} "
                f"is on line {twin} already"
            )
            yield LineError(line, "answer_id", reason)
