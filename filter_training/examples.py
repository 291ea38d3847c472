"""A training example: a prompt and the text that the model should continue it with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from service.prompts import Prompt


@dataclass(frozen=True)
class Example:
    """One line of a dataset in the paper's format (section 2.2).

    All variants of a group share `group_id` and never fall into different splits. `prompt` is
    the `input`, `target` the `output`.
    """

    group_id: str
    attack_type: str
    prompt: Prompt
    target: str


def split_groups(
    examples: Sequence[Example], *, validation_share: float, seed: int
) -> tuple[list[Example], list[Example]]:
    """Training and validation examples, split by group after a seeded shuffle."""
    groups = sorted({example.group_id for example in examples})
    Random(seed).shuffle(groups)
    held_out = set(groups[: round(len(groups) * validation_share)])
    training = [example for example in examples if example.group_id not in held_out]
    validation = [example for example in examples if example.group_id in held_out]
    return training, validation
