"""A training example: a prompt, and what the model should say of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Self

from filter_training.marked import Span, without
from service.prompts import Prompt

_VARIANT_MARK = "~"


@dataclass(frozen=True)
class Example:
    """What the trainer needs of one line of a dataset.

    All examples of a group share `group_id`; groups that are made from one answer share what
    stands before `~` in it (`DS/a17` and `DS/a17~typos`).
    """

    group_id: str
    attack_type: str
    prompt: Prompt
    target: str


@dataclass(frozen=True)
class FilterExample(Example):
    """An example whose target is the text that the prompt shows without its cuts.

    Attributes:
        text: what the model reads of an answer.
        cuts: what of it is an attack; ascending, disjoint.
    """

    text: str
    cuts: tuple[Span, ...]

    @classmethod
    def of(
        cls,
        group_id: str,
        attack_type: str,
        prompt: Prompt,
        text: str,
        cuts: Iterable[Span],
    ) -> Self:
        """An example with the target that follows from its cuts."""
        spans = tuple(cuts)
        return cls(group_id, attack_type, prompt, without(text, spans), text, spans)


def derived_group(group_id: str, kind: str) -> str:
    """Id of a group whose honest text was made from the one of `group_id`."""
    return f"{group_id}{_VARIANT_MARK}{kind}"


def split_groups(
    examples: Sequence[Example], *, validation_share: float, seed: int
) -> tuple[list[Example], list[Example]]:
    """Training and validation examples, split after a seeded shuffle.

    Examples whose texts are made from one answer never fall apart.
    """
    origins = sorted({_origin(example.group_id) for example in examples})
    Random(seed).shuffle(origins)
    held_out = set(origins[: round(len(origins) * validation_share)])
    training = [example for example in examples if _origin(example.group_id) not in held_out]
    validation = [example for example in examples if _origin(example.group_id) in held_out]
    return training, validation


def _origin(group_id: str) -> str:
    return group_id.partition(_VARIANT_MARK)[0]
