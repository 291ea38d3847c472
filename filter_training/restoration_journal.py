"""The folder of a measurement: what it is of, and what the filter removed from each text.

It holds ids, numbers and hashes, never the text of an answer.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from filter_training.journal import Journal
from filter_training.restoration_cases import Case, Key, Row
from service.filter import FilteredText
from service.prompts import filter_prompt


class Subject(BaseModel):
    """What is measured: results of different subjects never stand in one folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: str
    filter_fingerprint: str
    procedure: str
    split: str
    sample: int
    seed: int


class Result(BaseModel):
    """What the filter removed from one text: [start, end) each, None if the text is too long."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: Row
    exam_id: str
    answer_id: str
    variant: str
    prompt_sha256: str
    removed: tuple[tuple[int, int], ...] | None
    forward_passes: int

    @classmethod
    def of(cls, case: Case, text: FilteredText | None) -> Self:
        """The result of a case; `text` is None where the model cannot take it."""
        spans = None if text is None else tuple((span.start, span.end) for span in text.removed)
        return cls(
            row=case.key.row,
            exam_id=case.key.exam_id,
            answer_id=case.key.answer_id,
            variant=case.key.variant,
            prompt_sha256=_prompt_hash(case),
            removed=spans,
            forward_passes=text.forward_passes if text else 0,
        )

    @property
    def key(self) -> Key:
        """Key of the case."""
        return Key(self.row, self.exam_id, self.answer_id, self.variant)


class RestorationJournal(Journal[Subject, Result, Key]):
    """The results in a folder.

    Args:
        folder: is made where it is not there.
        subject: what is measured.

    Raises:
        SettingsError: the folder holds results of another subject.
        InputError: the folder cannot be used.
    """

    def __init__(self, folder: Path, subject: Subject) -> None:
        super().__init__(
            folder, subject, file="results.jsonl", kind=Result, key=lambda result: result.key
        )

    def result_of(self, case: Case) -> Result | None:
        """The result of this very text, if it was filtered before."""
        result = self.get(case.key)
        return result if result and result.prompt_sha256 == _prompt_hash(case) else None


def _prompt_hash(case: Case) -> str:
    # Of the raw text, and not of the view that the model reads: that one `procedure` tells.
    prompt = filter_prompt(case.question, case.marked.text)
    return hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).hexdigest()
