"""The answers where most went wrong, for people to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.evaluated import TextKey
from evaluation.layout import Layout
from evaluation.metrics import Floats, shift
from evaluation.report.highlight import Piece, pieces
from evaluation.scores import Scores
from filter_training.attacks import CLEAN

_SHOWN = 10


@dataclass(frozen=True)
class WorstCase:
    """A variant of an answer that a pipeline did badly on.

    Attributes:
        exam: with the next three, which text it is.
        question: see there.
        answer: see there.
        variant: see there.
        score: what the pipeline gave it, on the question's scale.
        beside: the score that it should have been near to.
        removed: [start, end) of the spans that were removed.
        pieces: the text; None where it may not be shown.
    """

    exam: str
    question: str
    answer: str
    variant: str
    score: float
    beside: float
    removed: tuple[tuple[int, int], ...]
    pieces: tuple[Piece, ...] | None


@dataclass(frozen=True)
class WorstCases:
    """The worst cases of one kind, the worst first.

    Attributes:
        pipeline: whose.
        title: what went wrong.
        beside: what `WorstCase.beside` is.
        cases: at most ten.
        found: how many there are in all.
    """

    pipeline: str
    title: str
    beside: str
    cases: tuple[WorstCase, ...]
    found: int


def worst_cases(
    scores: Scores, layout: Layout, texts: Mapping[TextKey, str] | None
) -> list[WorstCases]:
    """For each pipeline: scores that attacks moved, honest answers cut, clean answers misjudged.

    Args:
        scores: what was scored.
        layout: which pipelines and variants.
        texts: every variant, where answers may be shown.
    """
    return [
        cases
        for pipeline in layout.pipelines
        for cases in _of_pipeline(scores, layout, pipeline, texts)
        if cases.cases
    ]


def _of_pipeline(
    scores: Scores, layout: Layout, pipeline: str, texts: Mapping[TextKey, str] | None
) -> Iterator[WorstCases]:
    attacks = [
        name for name in (*layout.attacks, *layout.further_attacks) if name in scores.variants
    ]
    honest = [name for name in (CLEAN, *layout.benign) if name in scores.variants]
    clean = scores.of_pipeline(pipeline, (CLEAN,))[:, 0]
    attacked = scores.of_pipeline(pipeline, attacks)
    lost = np.array(
        [
            [sum(end - start for start, end in spans or ()) for spans in row]
            for row in scores.removed_spans(pipeline, honest)
        ],
        dtype=np.float64,
    )
    kinds = [
        (
            "scores that an attack moved most",
            "clean",
            attacks,
            np.abs(scores.on_ten(shift(attacked, clean))),
            clean,
        ),
        ("honest answers that lost most", "clean", honest, lost, clean),
        (
            "clean answers judged most unlike people",
            "people",
            [CLEAN],
            np.abs(scores.on_ten(clean - scores.gold))[:, None],
            scores.gold,
        ),
    ]
    for title, beside, variants, amounts, reference in kinds:
        places = _worst(amounts)
        yield WorstCases(
            pipeline=pipeline,
            title=title,
            beside=beside,
            cases=tuple(
                _case(scores, pipeline, answer, variants[column], reference, texts)
                for answer, column in places[:_SHOWN]
            ),
            found=len(places),
        )


def _worst(amounts: Floats) -> Sequence[tuple[int, int]]:
    """Places [answer, variant] of the amounts above 0, the largest first."""
    known = np.nan_to_num(amounts)
    order = np.argsort(-known, axis=None, kind="stable")
    places = [divmod(int(place), amounts.shape[1]) for place in order]
    return [place for place in places if known[place] > 0]


def _case(
    scores: Scores,
    pipeline: str,
    answer: int,
    variant: str,
    reference: Floats,
    texts: Mapping[TextKey, str] | None,
) -> WorstCase:
    column = scores.variants.index(variant)
    removed = scores.removed_spans(pipeline, (variant,))[answer][0] or ()
    exam, name = str(scores.exam[answer]), str(scores.answer[answer])
    text = None if texts is None else texts.get((exam, name, variant))
    return WorstCase(
        exam=exam,
        question=str(scores.question[answer]),
        answer=name,
        variant=scores.variants[column],
        score=float(scores.of_pipeline(pipeline, (variant,))[answer, 0]),
        beside=float(reference[answer]),
        removed=removed,
        pieces=None if text is None else tuple(pieces(text, removed)),
    )
