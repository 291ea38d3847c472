"""What a model sees of a batch: the head read once, then all branches behind it."""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache

from filter_training.packing import Batch


def read_branches(decoder: Any, batch: Batch, *, recompute: bool) -> torch.Tensor:
    """Last hidden states of the branches, [B, L, width].

    Args:
        decoder: a transformers model without its vocabulary head.
        batch: the branches.
        recompute: the decoder recomputes its layers in the backward pass; such layers cannot
            add to a memory, so every branch reads the head itself.
    """
    device = next(decoder.parameters()).device
    head, ids, positions = batch.head.to(device), batch.ids.to(device), batch.positions.to(device)
    count, before = batch.examples, head.shape[1]
    if recompute:
        own = torch.ones((before, before), dtype=torch.bool).tril()
        sees = torch.nn.functional.pad(own, (0, ids.shape[1])).expand(count, 1, -1, -1)
        first = torch.arange(before, device=device).expand(count, -1)
        states = decoder(
            input_ids=torch.cat([head.expand(count, -1), ids], dim=1),
            position_ids=torch.cat([first, positions], dim=1),
            attention_mask=_mask(torch.cat([sees, batch.sees], dim=2), decoder),
            use_cache=False,
        ).last_hidden_state
        return states[:, before:]  # type: ignore[no-any-return]
    memory = DynamicCache()
    if before:
        decoder(input_ids=head, cache=memory, use_cache=True)
        memory.batch_repeat_interleave(count)
    return decoder(  # type: ignore[no-any-return]
        input_ids=ids,
        position_ids=positions,
        attention_mask=_mask(batch.sees, decoder),
        cache=memory,
        use_cache=True,
    ).last_hidden_state


def _mask(sees: torch.Tensor, decoder: Any) -> torch.Tensor:
    mask = torch.zeros(sees.shape, dtype=decoder.dtype)
    return mask.masked_fill_(~sees, torch.finfo(mask.dtype).min).to(decoder.device)
