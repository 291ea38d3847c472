"""The texts that an evaluation makes of each answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from filter_training.attacks import CLEAN, FAMILIES, PAPER_ATTACKS, attacked, make_attack
from filter_training.honest import benign_variant
from filter_training.marked import Part
from service.exam import Answer, ExamItem

FURTHER_ATTACKS = tuple(name for name in FAMILIES if name not in PAPER_ATTACKS)
"""The families of attacks that are not the paper's."""

BENIGN = tuple(f"benign_{number}" for number in (1, 2, 3))
"""Variants that keep the meaning."""


class AttackSet(StrEnum):
    """Which variants to make."""

    PAPER = "paper"
    """The clean answer and the paper's four attacks."""
    ALL = "all"
    """Those, all other families in wordings that no filter is trained on, and benign variants."""


@dataclass(frozen=True)
class VariantPlan:
    """Which variants to make of answers; the same plan makes the same texts.

    Attributes:
        attacks: which.
        seed: texts rest on it and on the answer, not on what else is evaluated.
    """

    attacks: AttackSet
    seed: int

    @property
    def further_attacks(self) -> tuple[str, ...]:
        """Attacks beside the paper's."""
        return FURTHER_ATTACKS if self.attacks is AttackSet.ALL else ()

    @property
    def benign(self) -> tuple[str, ...]:
        """Variants that keep the meaning."""
        return BENIGN if self.attacks is AttackSet.ALL else ()

    @property
    def names(self) -> tuple[str, ...]:
        """The attack_type of every variant, clean first."""
        return (CLEAN, *PAPER_ATTACKS, *self.further_attacks, *self.benign)

    def variants(self, item: ExamItem) -> list[Answer]:
        """The variants of an answer, in the order of their names."""
        return [
            replace(item.answer, attack_type=name, text=self._text(item, name))
            for name in self.names
        ]

    def _text(self, item: ExamItem, name: str) -> str:
        question, text = item.question, item.answer.text
        random = Random(repr((self.seed, question.exam_id, item.answer.answer_id, name)))
        if name in self.further_attacks:
            return make_attack(name, question, text, random, Part.HELD_OUT).marked.text
        if name in self.benign:
            return benign_variant(question, text, random, Part.HELD_OUT).text
        return attacked(text, name)


def fingerprint(plan: VariantPlan, items: Sequence[ExamItem]) -> str:
    """SHA-256 over all texts of an evaluation and what they answer, hex."""
    digest = hashlib.sha256()
    for part in _parts(plan, items):
        # Half a surrogate pair is refused by the pipeline, not here.
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()


def _parts(plan: VariantPlan, items: Sequence[ExamItem]) -> Iterator[str]:
    for item in items:
        yield repr((item.question, item.human_scores))
        for answer in plan.variants(item):
            yield repr(answer)
