"""Texts with known attacks, and outcomes made of them, for tests of what is measured."""

from __future__ import annotations

from filter_training.marked import Attack, MarkedText, Part, Span
from filter_training.restoration import Outcome, score
from filter_training.restoration_cases import Case, Key, Row
from filter_training.restoration_journal import Subject
from tests.filter_training.world import question

SUBJECT = Subject(
    profile="toy", filter_fingerprint="f", procedure="copy/1", split="test", sample=8, seed=1
)


def marked(*parts: str) -> MarkedText:
    """Every other part is the attack: `marked("answer", " attack", " answer")`."""
    spans: list[Span] = []
    text = ""
    for number, part in enumerate(parts):
        if number % 2:
            spans.append(Span(len(text), len(text) + len(part)))
        text += part
    return MarkedText(text, tuple(spans))


def case(
    text: MarkedText,
    *,
    row: Row = Row.FAMILIES,
    answer_id: str = "a1",
    family: str = "plea",
    part: Part = Part.SEEN,
    placement: str = "after",
    ours: bool = False,
) -> Case:
    """A case; an attack where the text has spans."""
    key = Key(row, "DS_toy", answer_id, f"{part}/{family}")
    attack = Attack(text, family, part, placement, "plain", "en") if text.spans else None
    return Case(key, question(0), text, family, attack, ours)


def outcome(made: Case, *removed: Span, forward_passes: int = 1) -> Outcome:
    """What a filter that removes these spans did."""
    return Outcome(made, removed, score(made.marked, removed), forward_passes)
