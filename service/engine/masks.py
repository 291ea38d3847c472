"""Attention masks of our own making, as a model's layers take them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def attention_mask(
    model: Any, sees: Tensor, queries: Tensor, keys: Tensor
) -> Tensor | dict[str, Tensor]:
    """The mask that lets each query see the keys that `sees` allows, and no others.

    Layers with a sliding window see no further back than it reaches. transformers leaves that to
    whoever makes the mask, so a model that mixes them with other layers gets one mask for each
    kind.

    Args:
        model: a transformers model, with or without its vocabulary head.
        sees: bool [B, 1, L, S].
        queries: int64 [B, L], position of each query.
        keys: int64 [B, S], position of each key.

    Returns:
        A mask to add to the scores, or one for each kind of layer.
    """
    config = model.config.get_text_config()
    window: int | None = getattr(config, "sliding_window", None)
    kinds: list[str] | None = getattr(config, "layer_types", None)
    if window is None or (kinds and "sliding_attention" not in kinds):
        return _additive(model, sees)
    near = _additive(model, sees & (queries[:, None, :, None] - keys[:, None, None] < window))
    if not kinds:
        return near
    return {"full_attention": _additive(model, sees), "sliding_attention": near}


def _additive(model: Any, sees: Tensor) -> Tensor:
    mask = torch.zeros(sees.shape, dtype=model.dtype)
    return mask.masked_fill_(~sees, torch.finfo(mask.dtype).min).to(model.device)
