"""The numbers of a measurement: shares with intervals, for each set of texts and its parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from pydantic import TypeAdapter

from filter_training.bootstrap import ratio_intervals
from filter_training.restoration import Outcome
from filter_training.restoration_cases import Key
from filter_training.restoration_journal import Subject
from filter_training.restoration_worst import WORST_KINDS, worst

MEASURES: Mapping[str, Callable[[Outcome], tuple[int, int]]] = MappingProxyType(
    {
        "restored": lambda outcome: (outcome.score.restored, 1),
        "partly_restored": lambda outcome: (outcome.score.partly_restored, 1),
        "attack_chars_left": lambda outcome: (
            outcome.score.attack_chars_left,
            outcome.score.attack_chars,
        ),
        "attack_words_left": lambda outcome: (
            outcome.score.attack_words_left,
            outcome.score.attack_words,
        ),
        "content_lost": lambda outcome: (
            outcome.score.honest_chars_lost,
            outcome.score.honest_chars,
        ),
    }
)
"""Name → what of a text counts, and of how much. `restored` is the pass-through of honest texts."""


@dataclass(frozen=True)
class Estimate:
    """A share of texts, characters or words, with its 95 % interval."""

    count: int
    of: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Group:
    """The figures of some texts; a measure with nothing to count is left out."""

    texts: int
    answers: int
    measures: Mapping[str, Estimate]
    forward_passes: float


@dataclass(frozen=True)
class WorstText:
    """One of the worst texts; `text` and `removed` only where the text is of our making."""

    key: Key
    kind: str
    attack_chars_left: int
    honest_chars_lost: int
    text: str | None
    removed: tuple[str, ...] | None


@dataclass(frozen=True)
class SetReport:
    """The figures of a set of texts.

    Attributes:
        all: of all its texts.
        by: trait → value → figures of the texts with that value.
        worst: what went wrong → the texts where it went most wrong.
    """

    all: Group
    by: Mapping[str, Mapping[str, Group]]
    worst: Mapping[str, Sequence[WorstText]]


@dataclass(frozen=True)
class Report:
    """A measurement.

    Attributes:
        subject: what was measured, with sample and seed.
        settings: of the engine.
        versions: of the libraries that decide results.
        exams: SHA-256 of each exam file.
        sets: name of a set → its figures.
        refused: texts that the model cannot take; they are in no figure.
    """

    subject: Subject
    settings: Mapping[str, str | int]
    versions: Mapping[str, str]
    exams: Mapping[str, str]
    sets: Mapping[str, SetReport]
    refused: Sequence[Key]

    def to_json(self) -> bytes:
        """The report as a JSON object."""
        return TypeAdapter(Report).dump_json(self, indent=2) + b"\n"


def report_sets(outcomes: Sequence[Outcome], *, seed: int) -> dict[str, SetReport]:
    """The figures of each set, in the order in which the outcomes name it first."""
    sets = _grouped(outcomes, lambda outcome: outcome.case.test_set)
    return {name: _report_set(members, seed) for name, members in sets.items()}


def _report_set(outcomes: Sequence[Outcome], seed: int) -> SetReport:
    return SetReport(
        all=_group(outcomes, seed),
        by={trait: _parts(outcomes, trait, seed) for trait in outcomes[0].case.traits},
        worst={
            kind: [_worst_text(outcome) for outcome in worst(outcomes, kind)]
            for kind in WORST_KINDS
        },
    )


def _parts(outcomes: Sequence[Outcome], trait: str, seed: int) -> dict[str, Group]:
    parts = _grouped(outcomes, lambda outcome: outcome.case.traits[trait])
    return {value: _group(members, seed) for value, members in sorted(parts.items())}


def _grouped(
    outcomes: Sequence[Outcome], name: Callable[[Outcome], str]
) -> dict[str, list[Outcome]]:
    groups: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[name(outcome)].append(outcome)
    return dict(groups)


def _group(outcomes: Sequence[Outcome], seed: int) -> Group:
    """Figures whose intervals come from drawing answers anew, each with all its texts."""
    counted: defaultdict[tuple[str, str], list[list[tuple[int, int]]]] = defaultdict(list)
    for outcome in outcomes:
        key = outcome.case.key
        counted[key.exam_id, key.answer_id].append(
            [measure(outcome) for measure in MEASURES.values()]
        )
    sums = np.array([np.sum(texts, axis=0) for texts in counted.values()], dtype=np.float64)
    hits, totals = sums[:, :, 0], sums[:, :, 1]
    there = totals.sum(axis=0) > 0
    ends = iter(ratio_intervals(hits[:, there], totals[:, there], seed=seed))
    measures: dict[str, Estimate] = {}
    for name, hit, total in zip(MEASURES, hits.sum(axis=0), totals.sum(axis=0), strict=True):
        if total > 0:
            low, high = next(ends)
            measures[name] = Estimate(
                int(hit), int(total), float(hit / total), float(low), float(high)
            )
    return Group(
        texts=len(outcomes),
        answers=len(counted),
        measures=measures,
        forward_passes=float(np.mean([outcome.forward_passes for outcome in outcomes])),
    )


def _worst_text(outcome: Outcome) -> WorstText:
    case = outcome.case
    text = case.marked.text
    return WorstText(
        key=case.key,
        kind=case.kind,
        attack_chars_left=outcome.score.attack_chars_left,
        honest_chars_lost=outcome.score.honest_chars_lost,
        text=text if case.ours else None,
        removed=tuple(text[span.start : span.end] for span in outcome.removed)
        if case.ours
        else None,
    )
