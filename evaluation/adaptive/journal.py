"""The folder of an adaptive attack: what it is of, and what became of every attempt.

It holds ids, numbers and hashes. The texts follow from them: the same seed and the same outcomes
make the same attempts, so a run that was killed goes on from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict

from filter_training.journal import Journal

_ONLY_NOTED = frozenset({"started_at", "command", "settings"})


class Sees(StrEnum):
    """What an attacker sees of an attempt."""

    FILTER = "filter"
    """What the filter left."""
    SCORE = "score"
    """That, and the score of what it left (grey box)."""


class AttackDescription(BaseModel):
    """What an adaptive attack is of, `run.json`.

    Attributes:
        started_at: when the first call began.
        command: the first call.
        settings: those that decide how the model runs.
        profiles: role → name of its model profile.
        fingerprints: role, or role@profile → hash over base, adapter, tokenizer and dtype.
        pipelines: name → how it filters and how it grades.
        families: whose attacks are tried.
        sees: what the attacker sees.
        rounds: how often it tries again.
        attempts: how many attacks it tries in each round.
        split: of the exam files.
        sample: how many answers were drawn; None for all.
        seed: of the draw and of the attacks.
        exams: name of each exam file → its SHA-256.
        versions: of the libraries that decide results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    started_at: AwareDatetime
    command: tuple[str, ...]
    settings: Mapping[str, str | int]
    profiles: Mapping[str, str]
    fingerprints: Mapping[str, str]
    pipelines: Mapping[str, str]
    families: tuple[str, ...]
    sees: Sees
    rounds: int
    attempts: int
    split: str
    sample: int | None
    seed: int
    exams: Mapping[str, str]
    versions: Mapping[str, str]


class AttemptKey(NamedTuple):
    """What an attempt is told by; the clean answer is attempt 0 of the family `clean`."""

    pipeline: str
    exam_id: str
    answer_id: str
    family: str
    round: int
    number: int


class Attempt(BaseModel):
    """What became of an attempt, a line of `attempts.jsonl`.

    Attributes:
        pipeline: its name.
        exam_id: with the next, whose answer is attacked.
        answer_id: see there.
        family: whose attack; `clean` for the answer without any.
        round: 0 for the attack that is tried first.
        number: which attempt of the round.
        move: how it was made.
        text_sha256: of the attacked answer.
        removed: [start, end) of each span that the pipeline removed; None where the model cannot
            take the text.
        score: of what was left; None where it was not asked for, or is not there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pipeline: str
    exam_id: str
    answer_id: str
    family: str
    round: int
    number: int
    move: str
    text_sha256: str
    removed: tuple[tuple[int, int], ...] | None
    score: float | None

    @property
    def key(self) -> AttemptKey:
        """What the attempt is told by."""
        return AttemptKey(
            self.pipeline, self.exam_id, self.answer_id, self.family, self.round, self.number
        )


class AttackJournal(Journal[AttackDescription, Attempt, AttemptKey]):
    """The attempts in a folder.

    Args:
        folder: is made where it is not there.
        description: of the attack that wants to write there.

    Raises:
        SettingsError: the folder holds another run.
        InputError: the folder cannot be used.
    """

    def __init__(self, folder: Path, description: AttackDescription) -> None:
        super().__init__(
            folder,
            description,
            file="attempts.jsonl",
            kind=Attempt,
            key=lambda attempt: attempt.key,
            may_differ=_ONLY_NOTED,
        )

    def outcome(self, key: AttemptKey, text: str) -> Attempt | None:
        """What became of this very text, if it was tried before."""
        attempt = self.get(key)
        return attempt if attempt and attempt.text_sha256 == text_hash(text) else None


def text_hash(text: str) -> str:
    """SHA-256 of a text, hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
