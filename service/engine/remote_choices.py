"""How likely each score is, from a server that tells the odds of one next token at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, takewhile

NextToken = Callable[[Sequence[int]], Mapping[int, float] | None]
"""Log-probability of the likeliest next tokens after some ids, by token id."""


def choice_odds(
    choices: Mapping[str, Sequence[int]], end_ids: Sequence[int], next_token: NextToken
) -> Mapping[str, float] | None:
    """Probability of each choice, normalised over the choices.

    A choice counts as a whole, up to the token that ends it: "1" also begins "10". The server
    is asked only where choices part. A token that is not among the likeliest has no
    probability; if none of the choices is, nothing can be said.

    Args:
        choices: the ids of context, choice and closing line break.
        end_ids: tokens that may close a choice instead of the line break.
        next_token: asks the server.
    """
    logs = dict.fromkeys(choices, 0.0)
    for context in _partings(list(choices.values())):
        following = next_token(context)
        if following is None:
            return None
        for choice, ids in choices.items():
            if len(ids) > len(context) and tuple(ids[: len(context)]) == context:
                last = len(ids) == len(context) + 1
                wanted = {ids[len(context)], *(end_ids if last else ())}
                odds = sum(math.exp(following[token]) for token in wanted & following.keys())
                logs[choice] += math.log(odds) if odds else -math.inf
    weights = {choice: math.exp(log) for choice, log in logs.items()}
    total = sum(weights.values())
    return {choice: weight / total for choice, weight in weights.items()} if total else None


def _partings(sequences: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Every prefix that two sequences share and after which they differ, shortest first."""
    found = {
        tuple(first for first, _ in takewhile(_same, zip(one, other, strict=False)))
        for one, other in combinations(sequences, 2)
    }
    return sorted(found, key=len)


def _same(pair: tuple[int, int]) -> bool:
    return pair[0] == pair[1]
