"""What a filter is measured on: texts of which an ideal filter's result is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from filter_training.attacks import FAMILIES, PAPER_ATTACKS, make_attack
from filter_training.attacks.paper import paper_attack
from filter_training.honest import Honest, benign_variant, hard_negative, trap
from filter_training.marked import Attack, MarkedText, Part
from filter_training.red_team import Finding
from service.exam import ExamItem, Question

OTHER_FAMILIES = tuple(name for name in FAMILIES if name not in PAPER_ATTACKS)
"""The families that are not classes of the paper."""

_PER_FAMILY = 50
"""Texts of each family and part, so that a figure per family means something."""


class Row(StrEnum):
    """A set of texts to measure on."""

    CLEAN = "clean"
    BENIGN = "benign"
    HARD_NEGATIVE = "hard_negative"
    PAPER = "paper"
    HELD_OUT = "held_out"
    FAMILIES = "families"
    RED_TEAM = "red_team"


@dataclass(frozen=True)
class Key:
    """What a text is told by, in a folder of results too.

    `variant` tells the texts apart that a row makes of one answer.
    """

    row: Row
    exam_id: str
    answer_id: str
    variant: str


@dataclass(frozen=True)
class Case:
    """A text to filter.

    Attributes:
        key: its identity.
        question: what it answers.
        marked: the text, and what of it is not the student's answer.
        kind: family of the attack, or what makes an honest text hard.
        attack: how the attack was made; None for honest texts.
        ours: True if the whole text is of our making and may be shown.
    """

    key: Key
    question: Question
    marked: MarkedText
    kind: str
    attack: Attack | None = None
    ours: bool = False

    @property
    def test_set(self) -> str:
        """The row, and for families the part: seen and held-out wordings are counted apart."""
        if self.key.row is Row.FAMILIES and self.attack:
            return f"{self.key.row}_{self.attack.part}"
        return self.key.row.value

    @property
    def traits(self) -> dict[str, str]:
        """What results are broken down by."""
        traits = {"kind": self.kind, "course": self.key.exam_id}
        if self.attack:
            traits["placement"] = self.attack.placement
            traits["carrier"] = self.attack.carrier
            traits["language"] = self.attack.language
        return traits


@dataclass(frozen=True)
class Plan:
    """What to measure on.

    Attributes:
        items: the answers drawn.
        seed: texts rest on it and on their key, not on what else is measured.
        families: those of the row `families`.
        own_texts: hard negatives that are not woven into an answer of `items`.
        findings: attacked answers of red-team files.
    """

    items: Sequence[ExamItem]
    seed: int
    families: Sequence[str] = OTHER_FAMILIES
    own_texts: int = field(kw_only=True)
    findings: Sequence[Finding] = field(default=(), kw_only=True)

    def cases(self, rows: Sequence[Row]) -> list[Case]:
        """The texts of the rows."""
        made = {
            Row.CLEAN: self._clean,
            Row.BENIGN: self._benign,
            Row.HARD_NEGATIVE: self._hard_negatives,
            Row.PAPER: self._paper,
            Row.HELD_OUT: self._held_out,
            Row.FAMILIES: self._families,
            Row.RED_TEAM: self._red_team,
        }
        return [case for row in rows for case in made[row]()]

    def _clean(self) -> Iterator[Case]:
        for item in self.items:
            text = MarkedText(item.answer.text, ())
            yield Case(_key(Row.CLEAN, item, "clean"), item.question, text, "clean")

    def _benign(self) -> Iterator[Case]:
        for item in self.items:
            key = _key(Row.BENIGN, item, "benign")
            random = self._random(key)
            made = benign_variant(item.question, item.answer.text, random, Part.HELD_OUT)
            yield _honest(key, made)

    def _hard_negatives(self) -> Iterator[Case]:
        for number in range(self.own_texts):
            key = Key(Row.HARD_NEGATIVE, "own", f"hard-negative-{number}", "own")
            made = hard_negative(self._random(key), Part.HELD_OUT)
            yield _honest(key, made, ours=True)
        for item in self.items:
            key = _key(Row.HARD_NEGATIVE, item, "trap")
            yield _honest(
                key, trap(item.question, item.answer.text, self._random(key), Part.HELD_OUT)
            )

    def _paper(self) -> Iterator[Case]:
        for item in self.items:
            for attack_type in PAPER_ATTACKS:
                key = _key(Row.PAPER, item, attack_type)
                yield _attacked(key, item.question, paper_attack(attack_type, item.answer.text))

    def _held_out(self) -> Iterator[Case]:
        for item in self.items:
            for family in PAPER_ATTACKS:
                yield self._made(_key(Row.HELD_OUT, item, family), item, family, Part.HELD_OUT)

    def _families(self) -> Iterator[Case]:
        """Each family on as many answers as any other, and all answers in turn."""
        count = len(self.items)
        if not self.families or not count:
            return
        each = max(min(count, _PER_FAMILY), -(-count // len(self.families)))
        for part in Part:
            for number, family in enumerate(self.families):
                for index in range(each):
                    item = self.items[(number * each + index) % count]
                    key = _key(Row.FAMILIES, item, f"{part}/{family}")
                    yield self._made(key, item, family, part)

    def _red_team(self) -> Iterator[Case]:
        for finding in self.findings:
            digest = hashlib.sha256(finding.marked.text.encode("utf-8", "surrogatepass"))
            question = finding.question
            answer_id = f"{question.question_id}/{digest.hexdigest()[:12]}"
            key = Key(Row.RED_TEAM, question.exam_id, answer_id, finding.attack_type)
            yield Case(key, question, finding.marked, finding.attack_type)

    def _made(self, key: Key, item: ExamItem, family: str, part: Part) -> Case:
        random = self._random(key)
        attack = make_attack(family, item.question, item.answer.text, random, part)
        return _attacked(key, item.question, attack)

    def _random(self, key: Key) -> Random:
        return Random(repr((self.seed, str(key.row), key.exam_id, key.answer_id, key.variant)))


def _key(row: Row, item: ExamItem, variant: str) -> Key:
    return Key(row, item.question.exam_id, item.answer.answer_id, variant)


def _honest(key: Key, made: Honest, *, ours: bool = False) -> Case:
    return Case(key, made.question, MarkedText(made.text, ()), made.kind, ours=ours)


def _attacked(key: Key, question: Question, attack: Attack) -> Case:
    return Case(key, question, attack.marked, attack.attack_type, attack)
