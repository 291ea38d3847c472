"""Examples of one question packed behind one prefix.

A row is the question's head, then the answers of several students as branches: each branch
sees the head and itself, and its positions restart where the head ends. So the model computes
the head once, and each example sees exactly what it would see alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch

from filter_training.examples import Example
from service.engine.tokens import PromptEncoder


@dataclass(frozen=True)
class Encoded:
    """Token ids of an example: the head may be shared, the tail and target are its own."""

    head: tuple[int, ...]
    tail: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def branch_length(self) -> int:
        """Tokens behind the head."""
        return len(self.tail) + len(self.target)


@dataclass(frozen=True)
class Row:
    """A packed row of L tokens.

    Attributes:
        input_ids: int64 [1, L].
        position_ids: int64 [1, L].
        mask: bool [1, 1, L, L], True where the row's position may look.
        predict: int64 [T], positions whose next token is a target.
        labels: int64 [T], those target tokens.
        examples: number of branches.
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    mask: torch.Tensor
    predict: torch.Tensor
    labels: torch.Tensor
    examples: int


def encode(example: Example, encoder: PromptEncoder, *, max_length: int) -> Encoded:
    """Token ids with the end-of-sequence token on the target (paper, section 2.2).

    What is longer than `max_length` loses tokens from the left of the prompt; the target is
    always kept whole.
    """
    head = encoder.head_ids(example.prompt)
    tail = encoder.tail_ids(example.prompt)
    target = [
        *encoder.plain_ids(example.target, continues=True),
        encoder.tokenizer.eos_token_id,
    ]
    excess = len(head) + len(tail) + len(target) - max_length
    if excess > 0:
        head, tail = head[excess:], tail[max(0, excess - len(head)) :]
    return Encoded(tuple(head), tuple(tail), tuple(target))


def pack(encoded: Sequence[Encoded], *, row_tokens: int, random: Random) -> list[Row]:
    """Rows of at most `row_tokens` tokens (one longer example gets its own), in random order."""
    by_head: dict[tuple[int, ...], list[Encoded]] = {}
    for item in encoded:
        by_head.setdefault(item.head, []).append(item)
    rows: list[Row] = []
    for head, items in by_head.items():
        random.shuffle(items)
        waiting: list[Encoded] = []
        used = len(head)
        for item in items:
            if waiting and used + item.branch_length > row_tokens:
                rows.append(row(head, waiting))
                waiting, used = [], len(head)
            waiting.append(item)
            used += item.branch_length
        rows.append(row(head, waiting))
    random.shuffle(rows)
    return rows


def row(head: Sequence[int], branches: Sequence[Encoded]) -> Row:
    """One packed row."""
    ids = list(head)
    positions = list(range(len(head)))
    branch_of = [0] * len(head)
    predict: list[int] = []
    labels: list[int] = []
    for number, branch in enumerate(branches, start=1):
        start = len(ids)
        ids += [*branch.tail, *branch.target]
        positions += range(len(head), len(head) + branch.branch_length)
        branch_of += [number] * branch.branch_length
        first = start + len(branch.tail) - 1
        predict += range(first, first + len(branch.target))
        labels += branch.target
    owner = torch.tensor(branch_of)
    order = torch.arange(len(ids))
    causal = order[:, None] >= order[None, :]
    visible = causal & ((owner[None, :] == 0) | (owner[:, None] == owner[None, :]))
    return Row(
        input_ids=torch.tensor([ids]),
        position_ids=torch.tensor([positions]),
        mask=visible[None, None],
        predict=torch.tensor(predict),
        labels=torch.tensor(labels),
        examples=len(branches),
    )
