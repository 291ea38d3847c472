"""Attention for training on a CPU, as plain matrix products in the weights' own precision.

What transformers calls eager attention copies keys and values for every query head and computes
the softmax in float32 copies. Here the query heads of a key head stand side by side, and the
softmax keeps its float32 sums to itself, with the same result: about half the time.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

GROUPED = "grouped_eager"
"""Name of this attention as `attn_implementation`."""


def grouped_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention of queries [B, heads, L, D] over keys and values [B, key heads, S, D].

    Args:
        module: the attention layer, whose training state decides about dropout.
        query: queries.
        key: keys.
        value: values.
        attention_mask: float [B, 1, L, S], added to the scores; None lets all see all.
        scaling: factor of the scores.
        dropout: share of the weights that is dropped in training.

    Returns:
        [B, L, heads, D], and no weights.
    """
    batch, heads, length, width = query.shape
    key_heads, seen = key.shape[1], key.shape[2]
    grouped = (query * scaling).reshape(batch, key_heads, -1, width)
    scores = grouped @ key.transpose(-1, -2)
    if attention_mask is not None:
        by_head = scores.view(batch, heads, length, seen) + attention_mask
        scores = by_head.view(batch, key_heads, -1, seen)
    weights = torch.nn.functional.dropout(scores.softmax(-1), dropout, module.training)
    output = (weights @ value).view(batch, heads, length, width)
    return output.transpose(1, 2).contiguous(), None


AttentionInterface.register(GROUPED, grouped_attention)
AttentionMaskInterface.register(GROUPED, eager_mask)
