"""What a model sees of a batch: the head read once, then all branches behind it."""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache

from filter_training.packing import Batch
from service.engine.masks import attention_mask


def read_branches(decoder: Any, batch: Batch, *, recompute: bool) -> torch.Tensor:
    """Last hidden states of the branches, [B, L, width].

    Args:
        decoder: a transformers model without its vocabulary head.
        batch: the branches.
        recompute: the decoder recomputes its layers in the backward pass; such layers cannot
            add to a memory, so every branch reads the head itself.
    """
    device = next(decoder.parameters()).device
    count, before = batch.examples, batch.head.shape[1]
    first = torch.arange(before).expand(count, -1)
    keys = torch.cat([first, batch.positions], dim=1)
    if recompute:
        own = torch.ones((before, before), dtype=torch.bool).tril()
        sees = torch.nn.functional.pad(own, (0, batch.ids.shape[1])).expand(count, 1, -1, -1)
        sees = torch.cat([sees, batch.sees], dim=2)
        states = decoder(
            input_ids=torch.cat([batch.head.expand(count, -1), batch.ids], dim=1).to(device),
            position_ids=keys.to(device),
            attention_mask=attention_mask(decoder, sees, keys, keys),
            use_cache=False,
        ).last_hidden_state
        return states[:, before:]  # type: ignore[no-any-return]
    # Without a configuration, or layers with a sliding window would forget what is behind it.
    memory = DynamicCache()
    if before:
        decoder(input_ids=batch.head.to(device), cache=memory, use_cache=True)
        memory.batch_repeat_interleave(count)
    return decoder(  # type: ignore[no-any-return]
        input_ids=batch.ids.to(device),
        position_ids=batch.positions.to(device),
        attention_mask=attention_mask(decoder, batch.sees, batch.positions, keys),
        cache=memory,
        use_cache=True,
    ).last_hidden_state
