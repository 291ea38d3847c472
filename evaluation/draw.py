"""Which answers of exam files an experiment is made on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from random import Random

from filter_training.folds import QUESTION_FOLDS, left_out
from filter_training.sampling import stratified, unattacked
from service.errors import InputError
from service.exam import ExamItem
from service.exam_file import read_exam
from service.settings import Settings


@dataclass(frozen=True)
class Draw:
    """Which answers of exam files are evaluated.

    Attributes:
        exams: the files.
        split: of files that have one.
        sample: how many answers are drawn; None for all.
        seed: of the draw and of the folds.
        question_fold: the fold of questions that training left out; None for all questions.
        question_folds: how many folds there are.
    """

    exams: tuple[Path, ...]
    split: str
    sample: int | None
    seed: int
    question_fold: int | None = None
    question_folds: int = QUESTION_FOLDS

    def items(self, settings: Settings) -> list[ExamItem]:
        """The honest answers of the split, or as many of each question as can be.

        Raises:
            InputError: a file has faults, or there is no such answer, or one stands there twice.
            SettingsError: there is no such fold.
        """
        limit, pseudonyms = settings.max_answer_chars, settings.pseudonyms
        items = [
            pseudonyms.item(item)
            for path in self.exams
            for item in unattacked(read_exam(path, max_answer_chars=limit), self.split)
        ]
        if not items:
            raise InputError(f"no answer of the exam files is of split {self.split}")
        seen: set[tuple[str, str]] = set()
        for item in items:
            key = item.question.exam_id, item.answer.answer_id
            if key in seen:
                raise InputError(f"{key[0]}, answer {key[1]}: the exam files have it twice")
            seen.add(key)
        if self.question_fold is not None:
            items = left_out(items, self.question_fold, folds=self.question_folds, seed=self.seed)
        return items if self.sample is None else stratified(items, self.sample, Random(self.seed))

    def hashes(self) -> dict[str, str]:
        """Name of each exam file → its SHA-256, hex."""
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.exams}
