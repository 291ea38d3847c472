"""Rating: one mark says how much of the full score an answer earns; no text is written.

The mark is a probability p. The scores from the lowest to the highest have the probabilities of
0 to n successes in n trials that succeed with p each: one peak, and a mean at p of the way from
the lowest score to the highest (da Costa and Cardoso, Classification of ordinal data using neural
networks, ECML 2005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from service.engine.base import GradeRequest, Role
from service.engine.grading import ScoredCompletion
from service.engine.groups import TOKENS_AT_ONCE, grouped
from service.engine.language_model import LanguageModel
from service.engine.marks import probability
from service.errors import PromptTooLongError
from service.judgement import FinishReason
from service.prompts import ANSWER_CUE


def rate(
    model: LanguageModel, requests: Sequence[GradeRequest]
) -> list[ScoredCompletion | PromptTooLongError]:
    """The score nearest to the mean, as an `Answer:` line, and the odds of each choice."""
    rated: dict[int, ScoredCompletion | PromptTooLongError] = {}
    rows: list[_Row] = []
    for index, request in enumerate(requests):
        head, tail = model.encoder.head_ids(request.prompt), model.encoder.tail_ids(request.prompt)
        needed = len(head) + len(tail)
        if needed > model.context:
            rated[index] = PromptTooLongError("the prompt", needed, model.context)
        else:
            rows.append((head, tail, index))
    for group in grouped(sorted(rows, key=lambda row: (row[0], len(row[1]))), _together):
        tails = [tail for _, tail, _ in group]
        marks = model.mark(
            Role.GRADE, group[0][0], [tail[:-1] for tail in tails], [tail[-1:] for tail in tails]
        )
        for (_, _, index), (odds,) in zip(group, marks, strict=True):
            rated[index] = _completion(odds, requests[index].choices)
    return [rated[index] for index in range(len(requests))]


_Row = tuple[list[int], list[int], int]
"""Head, tail, and the request that they are of."""


def _together(rows: Sequence[_Row]) -> bool:
    """True if rows are of one head and not too long together."""
    (first, _, _), (last, longest, _) = rows[0], rows[-1]
    return first == last and len(rows) * (len(last) + len(longest)) <= TOKENS_AT_ONCE


def _completion(odds: float, choices: Sequence[str]) -> ScoredCompletion:
    trials = len(choices) - 1
    rating = probability(odds)
    probabilities = [
        math.comb(trials, wins) * rating**wins * (1 - rating) ** (trials - wins)
        for wins in range(trials + 1)
    ]
    nearest = choices[math.floor(rating * trials + 0.5)]
    return ScoredCompletion(
        text=f"{ANSWER_CUE} {nearest}",
        finish_reason=FinishReason.STOP,
        choice_probabilities=dict(zip(choices, probabilities, strict=True)),
        forced_choice=None,
    )
