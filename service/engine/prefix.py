"""What a model keeps of the heads of prompts: all students of a question share theirs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from torch import Tensor

from service.observability import metrics

Memory = tuple[tuple[Tensor, Tensor], ...]
"""Keys and values of every token read, one pair per layer, batch size 1."""

_Key = tuple[str | None, tuple[int, ...]]


class HeadMemories:
    """Memories of heads by the adapter that read them. Not safe to use from several threads.

    Args:
        most_bytes: how much is kept beside the latest; what was not needed for longest goes first.
            A question's two heads of 750 tokens in all take 35 MB with SmolLM2-135M in float32 and
            98 MB with Mistral-7B in bfloat16, so an exam's questions can take turns.
    """

    def __init__(self, most_bytes: int = 2**29) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[_Key, Memory] = OrderedDict()
        self._bytes = 0

    def find(self, adapter: str | None, head: Sequence[int]) -> Memory | None:
        """The memory of a head as the adapter, or the bare base for None, read it."""
        key = (adapter, tuple(head))
        metrics.HEADS.labels("hit" if key in self._kept else "miss").inc()
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, adapter: str | None, head: Sequence[int], memory: Memory) -> None:
        """Keep the memory of a head that is not here yet."""
        self._kept[adapter, tuple(head)] = memory
        self._bytes += _size(memory)
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _size(oldest)


def _size(memory: Memory) -> int:
    return sum(keys.nbytes + values.nbytes for keys, values in memory)
