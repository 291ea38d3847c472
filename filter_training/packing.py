"""Examples of one question as branches behind one prefix.

A batch is the question's head, computed once, and the answers of several students behind it,
side by side in the batch dimension: each branch sees the head and itself, and its positions
begin where the head ends. So each example sees exactly what it would see alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch

from filter_training.examples import Example, FilterExample
from filter_training.graded import GradedExample
from service.engine.tokens import DraftToken, PromptEncoder


@dataclass(frozen=True)
class Encoded:
    """Token ids of an example: the head may be shared, the rest is its own.

    Attributes:
        head: the prompt up to the answer.
        tail: the rest of the prompt.
        target: what the model should write, with the end-of-sequence token; or the text to mark.
        marks: (place in tail and target, probability of yes) of each mark that is asked for;
            None where the model should write.
    """

    head: tuple[int, ...]
    tail: tuple[int, ...]
    target: tuple[int, ...]
    marks: tuple[tuple[int, float], ...] | None = None

    @property
    def branch_length(self) -> int:
        """Tokens behind the head."""
        return len(self.tail) + len(self.target)


@dataclass(frozen=True)
class Batch:
    """B branches of at most L tokens behind one head of H tokens.

    Attributes:
        head: int64 [1, H].
        ids: int64 [B, L], padded on the right.
        positions: int64 [B, L].
        sees: bool [B, 1, L, H + L], True where a branch's token may look.
        rows: int64 [T], the branch of each position that is asked.
        columns: int64 [T], that position.
        labels: int64 [T], the token that should follow there; or float32 [T], how likely the
            mark there shall be yes.
    """

    head: torch.Tensor
    ids: torch.Tensor
    positions: torch.Tensor
    sees: torch.Tensor
    rows: torch.Tensor
    columns: torch.Tensor
    labels: torch.Tensor

    @property
    def examples(self) -> int:
        """Number of branches."""
        return self.ids.shape[0]


def encode(
    example: Example, encoder: PromptEncoder, *, max_length: int, marks: bool = False
) -> Encoded:
    """Token ids of an example, with the end-of-sequence token on the target (paper, section 2.2).

    What is longer than `max_length` loses tokens from the left of the prompt; the target is
    always kept whole.

    Args:
        example: what to encode.
        encoder: of the model.
        max_length: in tokens.
        marks: ask which tokens of a text are cut, or how much of the full score an answer earns,
            and not for what the model would write.
    """
    head = encoder.head_ids(example.prompt)
    tail = encoder.tail_ids(example.prompt)
    asked: tuple[tuple[int, float], ...] | None = None
    target: list[int]
    if marks and isinstance(example, GradedExample):
        target, asked = [], ((len(tail) - 1, example.fraction),)
    elif marks and isinstance(example, FilterExample):
        draft = encoder.draft(example.text, continues=True)
        target = [token.token_id for token in draft]
        asked = tuple(_marks(example, draft, len(tail)))
    else:
        target = encoder.plain_ids(example.target, continues=True)
        target.append(encoder.tokenizer.eos_token_id)
    excess = len(head) + len(tail) + len(target) - max_length
    if excess > 0:
        lost = min(max(0, excess - len(head)), len(tail) - 1)
        head, tail = head[excess:], tail[lost:]
        if asked is not None:
            asked = tuple((place - lost, mark) for place, mark in asked)
    return Encoded(tuple(head), tuple(tail), tuple(target), asked)


def _marks(
    example: FilterExample, draft: Sequence[DraftToken], first: int
) -> Iterator[tuple[int, float]]:
    """Whether most of what each token shows is cut; nobody asks about white space."""
    cut = {at for span in example.cuts for at in range(span.start, span.end)}
    for place, token in enumerate(draft, first):
        shown = [at for at in range(token.start, token.end) if not example.text[at].isspace()]
        if shown:
            yield place, float(2 * len(cut.intersection(shown)) > len(shown))


def pack(
    encoded: Sequence[Encoded], *, row_tokens: int, branches: int, random: Random
) -> list[Batch]:
    """Batches of at most `branches` branches and `row_tokens` tokens, in random order.

    Branches of similar length stand together, so that little is padded; an example that is
    longer than `row_tokens` gets a batch of its own.
    """
    by_head: dict[tuple[int, ...], list[Encoded]] = {}
    for item in encoded:
        by_head.setdefault(item.head, []).append(item)
    batches: list[Batch] = []
    for head, items in by_head.items():
        # A little noise on the lengths, or the same answers would meet in every epoch.
        items.sort(key=lambda item: item.branch_length * random.uniform(0.8, 1.2))
        waiting: list[Encoded] = []
        for item in items:
            longest = max(entry.branch_length for entry in [*waiting, item])
            tokens = len(head) + longest * (len(waiting) + 1)
            if waiting and (tokens > row_tokens or len(waiting) == branches):
                batches.append(batch(head, waiting))
                waiting = []
            waiting.append(item)
        batches.append(batch(head, waiting))
    random.shuffle(batches)
    return batches


def batch(head: Sequence[int], branches: Sequence[Encoded]) -> Batch:
    """One batch."""
    longest = max(branch.branch_length for branch in branches)
    count, before = len(branches), len(head)
    ids = torch.zeros((count, longest), dtype=torch.long)
    positions = torch.zeros((count, longest), dtype=torch.long)
    sees = torch.zeros((count, 1, longest, before + longest), dtype=torch.bool)
    sees[:, :, :, :before] = True
    sees[:, :, :, before:] = torch.ones((longest, longest), dtype=torch.bool).tril()
    rows: list[int] = []
    columns: list[int] = []
    labels: list[float] = []
    for row, branch in enumerate(branches):
        plain = [*branch.tail, *branch.target]
        ids[row, : len(plain)] = torch.tensor(plain)
        positions[row, : len(plain)] = torch.arange(before, before + len(plain))
        asked = branch.marks
        if asked is None:
            asked = tuple(enumerate(branch.target, len(branch.tail) - 1))
        rows += [row] * len(asked)
        columns += [column for column, _ in asked]
        labels += [label for _, label in asked]
    return Batch(
        head=torch.tensor([list(head)], dtype=torch.long),
        ids=ids,
        positions=positions,
        sees=sees,
        rows=torch.tensor(rows, dtype=torch.long),
        columns=torch.tensor(columns, dtype=torch.long),
        labels=torch.tensor(labels, dtype=torch.long if branches[0].marks is None else torch.float),
    )
