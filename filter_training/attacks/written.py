"""Whole attacks written one by one, beside those that grammars make. Only training draws them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random

from pydantic import TypeAdapter

from filter_training.attacks.order import Order, facts, roughened
from filter_training.marked import Part
from service.exam import Question

SHARE = 0.4
"""How many of a family's seen attacks are drawn as whole texts, where it has any."""

_DISGUISES = frozenset({"hidden_text", "template_spoof"})
"""Families whose texts are another family's order in a disguise."""

_SLOT = re.compile(r"\{(max|near|low|max_word)\}")
_TEXTS = TypeAdapter(dict[str, tuple[str, ...]])


@cache
def written_texts() -> Mapping[str, tuple[str, ...]]:
    """attack_type → texts; `{max}`, `{near}`, `{low}` and `{max_word}` stand for scores."""
    resource = files("filter_training.attacks").joinpath("data", "written.toml")
    return _TEXTS.validate_python(tomllib.loads(resource.read_text(encoding="utf-8")))


def draws_written(family: str, random: Random, part: Part) -> bool:
    """Whether the next attack of the family shall be a whole text: now and then, to train on."""
    return part is Part.SEEN and family in written_texts() and random.random() < SHARE


def written(family: str, question: Question, random: Random) -> str:
    """One of the family's texts for this question, as neat or careless as students write.

    Raises:
        KeyError: the family has no such texts.
    """
    slots = facts(question, random)
    text = random.choice(written_texts()[family])
    return roughened(_SLOT.sub(lambda match: slots[match[1]], text), random)


def written_order(family: str, question: Question, random: Random) -> Order:
    """One of the family's texts without any frame around it."""
    text = written(family, question, random)
    borrowed = frozenset({"coercive_suffix"} if family in _DISGUISES else ())
    return Order(text, "written", divisible="\n" not in text, borrowed=borrowed)
