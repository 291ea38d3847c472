"""Variants of honest texts: what the filter reads, and what it should leave out.

The model reads the detection view of a text. Its target is the view without what stands for any
part of an attack, with one exception: where an attack stands at the end, behind a line break, the
target also holds the white space before it, which the filter drops as white space at the end. So
a model that writes its target need not decide at the end of each line whether the next but one
token begins an attack; it decides where the attack does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Self

from filter_training.attacks import CLEAN
from filter_training.examples import FilterExample, split_groups
from filter_training.marked import Attack, MarkedText, Span
from service.detection_view import DetectionView, detection_view
from service.exam import Question
from service.filter import LINE_BREAK
from service.prompts import filter_prompt


class Source(StrEnum):
    """Where the honest text of a group comes from."""

    EXAM = "exam"
    BENIGN = "benign_variant"
    TRAP = "trap"
    HARD_NEGATIVE = "hard_negative"
    EMPTY = "empty"
    RED_TEAM = "red_team"
    GRAPH = "graph"


@dataclass(frozen=True)
class Variant:
    """One line of a dataset.

    Attributes:
        example: what the trainer needs of it.
        output: the honest text, as it was before any attack; all variants of a group share it.
        source: where the honest text comes from.
        placement: where the attack stands in the text; None where there is none or nobody said.
        carrier: what hides or frames the attack; None as above.
        language: ISO 639-1 code of the attack; None as above.
    """

    example: FilterExample
    output: str
    source: Source
    placement: str | None = None
    carrier: str | None = None
    language: str | None = None


@dataclass(frozen=True)
class Dataset:
    """Variants, and the ids of the groups that validate."""

    variants: tuple[Variant, ...]
    validation_groups: frozenset[str]

    @classmethod
    def split(cls, variants: Sequence[Variant], *, validation_share: float, seed: int) -> Self:
        """Leave a seeded share of the groups out of training."""
        examples = [variant.example for variant in variants]
        _, held_out = split_groups(examples, validation_share=validation_share, seed=seed)
        return cls(tuple(variants), frozenset(example.group_id for example in held_out))

    @property
    def training(self) -> list[FilterExample]:
        """What is trained on."""
        return [variant.example for variant in self.variants if not self.validates(variant)]

    @property
    def validation(self) -> list[FilterExample]:
        """What the training is validated on."""
        return [variant.example for variant in self.variants if self.validates(variant)]

    def validates(self, variant: Variant) -> bool:
        """True if the variant's group is left out of training."""
        return variant.example.group_id in self.validation_groups


@dataclass(frozen=True)
class Group:
    """An honest text of which variants are made."""

    group_id: str
    question: Question
    text: str
    source: Source

    def clean(self) -> Variant:
        """The text as it is."""
        marked = MarkedText(self.text, ())
        return Variant(self._example(CLEAN, marked), self.text, self.source)

    def attacked(self, attack: Attack) -> Variant:
        """The text with an attack that we made."""
        return Variant(
            self._example(attack.attack_type, attack.marked),
            self.text,
            self.source,
            attack.placement,
            attack.carrier,
            attack.language,
        )

    def reported(self, attack_type: str, marked: MarkedText) -> Variant:
        """The text with an attack that somebody else made."""
        return Variant(self._example(attack_type, marked), self.text, self.source)

    def _example(self, attack_type: str, marked: MarkedText) -> FilterExample:
        view = detection_view(marked.text)
        prompt = filter_prompt(self.question, view.text)
        cuts = view_cuts(marked, view)
        return FilterExample.of(self.group_id, attack_type, prompt, view.text, cuts)


def view_cuts(marked: MarkedText, view: DetectionView) -> Iterator[Span]:
    """What the model should leave out of the view of a text."""
    spans = _cut_spans(marked)
    cut = [
        any(start < span.end and span.start < end for span in spans)
        for start, end in zip(view.starts, view.ends, strict=True)
    ]
    done = 0
    for leaves, run in groupby(cut):
        start, done = done, done + len(list(run))
        if leaves:
            yield Span(start, done)


def _cut_spans(marked: MarkedText) -> Sequence[Span]:
    """The spans, but a final one without the white space before it if that has a line break."""
    if not marked.spans or marked.spans[-1].end < len(marked.text):
        return marked.spans
    *others, last = marked.spans
    start = last.end - len(marked.text[last.start :].lstrip())
    if not LINE_BREAK.search(marked.text[last.start : start]):
        return marked.spans
    return (*others, Span(start, last.end))
