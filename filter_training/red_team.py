"""Attacks that people found: red-team files with marked spans, and spans confirmed in the graph."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from filter_training.attacks import CLEAN
from filter_training.dataset import Group, Source, Variant
from filter_training.marked import MarkedText, Span
from service.engine.base import Cut
from service.errors import ExamFileError, LineError
from service.exam import ExamItem, Question
from service.exam_record import FilledText, Identifier, QuestionModel
from service.filter import with_separators
from service.graph import GraphStore
from service.graph.confirmed import confirmed_spans
from service.json_lines import decode, json_rows, line_errors, read_bytes

Offset = Annotated[int, Field(strict=True, ge=0)]


@dataclass(frozen=True)
class Finding:
    """An attacked answer that somebody marked; the spans take their separators with them."""

    question: Question
    marked: MarkedText
    attack_type: str


class _Report(BaseModel):
    """What a line of a red-team file says of the answer."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    student_answer: FilledText
    spans: list[tuple[Offset, Offset]] = Field(min_length=1)
    attack_type: Identifier = Source.RED_TEAM.value

    @field_validator("spans")
    @classmethod
    def _are_in_order(cls, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        if any(start >= end for start, end in spans):
            raise ValueError("a span ends before it begins, or is empty")
        if any(after[0] < before[1] for before, after in pairwise(spans)):
            raise ValueError("spans must be ascending and must not overlap")
        return spans

    @field_validator("attack_type")
    @classmethod
    def _is_an_attack(cls, attack_type: str) -> str:
        if attack_type == CLEAN:
            raise ValueError(f"must not be {CLEAN!r}: the spans mark an attack")
        return attack_type


class _QuestionId(BaseModel):
    """A question of an exam that is read beside the red-team file."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    dataset: Identifier
    question_id: Identifier


def read_red_team(path: Path, items: Sequence[ExamItem]) -> list[Finding]:
    """All findings of a red-team file, in its order.

    Args:
        path: a JSONL file; each line has `student_answer`, `spans` and perhaps `attack_type`, and
            the fields of a question or, for a question of `items`, `dataset` and `question_id`.
        items: the exams that lines may refer to.

    Raises:
        ExamFileError: the file has faults; it lists every one of them.
        InputError: the file cannot be opened.
    """
    known = {(item.question.exam_id, item.question.question_id): item.question for item in items}
    faults: list[LineError] = []
    findings: list[Finding] = []
    for row in json_rows(decode(read_bytes(path), faults), faults):
        question = _question(row.line, row.values, known, faults)
        report = _report(row.line, row.values, faults)
        if question and report:
            findings.append(
                _finding(question, report.student_answer, report.spans, report.attack_type)
            )
    if not findings and not faults:
        faults.append(LineError(1, None, "the file holds no attacks"))
    if faults:
        raise ExamFileError(path, faults)
    return findings


def confirmed_findings(store: GraphStore) -> list[Finding]:
    """What the filter removed and a person confirmed to be an attack.

    Raises:
        GraphError: the graph cannot be read.
    """
    return [
        _finding(confirmed.question, confirmed.text, confirmed.spans, Source.GRAPH.value)
        for confirmed in confirmed_spans(store)
    ]


def finding_variants(findings: Iterable[Finding], source: Source) -> Iterator[Variant]:
    """A group for each honest text: the text as it is, then everything that was found on it."""
    groups: dict[Group, dict[MarkedText, str]] = {}
    for finding in findings:
        question, text = finding.question, finding.marked.clean
        name = "\n".join((question.exam_id, question.question_id, text))
        group_id = f"{source}/{hashlib.sha256(name.encode()).hexdigest()[:16]}"
        group = Group(group_id, question, text, source)
        groups.setdefault(group, {})[finding.marked] = finding.attack_type
    for group, attacks in groups.items():
        yield group.clean()
        for marked, attack_type in attacks.items():
            yield group.reported(attack_type, marked)


def _question(
    line: int,
    values: Mapping[str, object],
    known: Mapping[tuple[str, str], Question],
    faults: list[LineError],
) -> Question | None:
    try:
        if "question" in values:
            return QuestionModel.model_validate(values).to_question()
        given = _QuestionId.model_validate(values)
    except ValidationError as error:
        faults += line_errors(line, error)
        return None
    question = known.get((given.dataset, given.question_id))
    if question is None:
        reason = (
            f"{given.question_id!r} of {given.dataset!r} is in no exam file that was given; "
            "give one, or the question's own fields"
        )
        faults.append(LineError(line, "question_id", reason))
    return question


def _report(line: int, values: Mapping[str, object], faults: list[LineError]) -> _Report | None:
    try:
        report = _Report.model_validate(values)
    except ValidationError as error:
        faults += line_errors(line, error)
        return None
    if (end := report.spans[-1][1]) > (length := len(report.student_answer)):
        reason = f"a span ends at {end}, but the answer has {length} characters"
        faults.append(LineError(line, "spans", reason))
        return None
    if any(not report.student_answer[start:end].strip() for start, end in report.spans):
        faults.append(LineError(line, "spans", "a span holds nothing but white space"))
        return None
    return report


def _finding(
    question: Question, text: str, spans: Iterable[tuple[int, int]], attack_type: str
) -> Finding:
    cuts = with_separators(text, [Cut(start, end, 1.0) for start, end in spans])
    marked = MarkedText(text, tuple(Span(cut.start, cut.end) for cut in cuts))
    return Finding(question, marked, attack_type)
