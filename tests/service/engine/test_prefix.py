from __future__ import annotations

import torch

from service.engine.prefix import HeadMemories, Memory


def memory(tokens: int) -> Memory:
    """A memory of 8 bytes a token."""
    return ((torch.zeros(1, 1, tokens, 1), torch.zeros(1, 1, tokens, 1)),)


def test_a_head_is_found_only_for_the_adapter_that_read_it() -> None:
    memories = HeadMemories()
    kept = memory(2)
    memories.keep("filter", [1, 2], kept)
    assert memories.find("filter", (1, 2)) is kept
    assert memories.find("grader", [1, 2]) is None
    assert memories.find(None, [1, 2]) is None
    assert memories.find("filter", [1]) is None


def test_what_was_not_needed_for_longest_goes_first() -> None:
    memories = HeadMemories(most_bytes=8 * 10)
    for head in ([1], [2], [3]):
        memories.keep(None, head, memory(3))
    memories.find(None, [1])
    memories.keep(None, [4], memory(3))
    assert memories.find(None, [2]) is None
    assert all(memories.find(None, head) for head in ([1], [3], [4]))
    memories.keep(None, [5], memory(9))
    assert not any(memories.find(None, head) for head in ([1], [3], [4]))
    assert memories.find(None, [5])


def test_a_head_larger_than_the_limit_is_kept_until_the_next() -> None:
    memories = HeadMemories(most_bytes=8)
    for head in ([1], [2]):
        memories.keep(None, head, memory(5))
        assert memories.find(None, head)
    assert memories.find(None, [1]) is None
