"""How a model that was taught to mark gives its marks: by the odds of two tokens."""

from __future__ import annotations

import math

from torch import Tensor


def mark_odds(states: Tensor, vocabulary: Tensor, mark_ids: tuple[int, int]) -> Tensor:
    """Log-odds of yes against no, float32 [...].

    Args:
        states: the model's last hidden states, [..., width].
        vocabulary: weights of the vocabulary projection, [tokens, width].
        mark_ids: what stands for no and for yes.
    """
    no, yes = mark_ids
    return states.float() @ (vocabulary[yes] - vocabulary[no]).float()


def probability(odds: float) -> float:
    """The probability of yes, given its log-odds, however large they are."""
    return (1 + math.tanh(odds / 2)) / 2
