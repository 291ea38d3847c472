"""Small seeded grammars: sentence patterns with `{slots}` and `{one|or|another}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from filter_training.marked import Part

_CHOICE = re.compile(r"\{([a-z_]+|[^{}]*\|[^{}]*)\}")
_SPACES = re.compile(r" {2,}")
_LOST_COMMA = re.compile(r",? +(?=\.(?: |$))|,(?=[.;])")

Slots = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Grammar:
    """Patterns that one is drawn from, and what their slots may hold.

    `{name}` is replaced by one of the slot's productions, `{a|b|}` by one of its alternatives;
    both may hold slots and alternatives again. Any other brace stands for itself.
    """

    patterns: tuple[str, ...]
    slots: Slots

    def draw(self, random: Random, facts: Mapping[str, str]) -> str:
        """One sentence; `facts` are slots whose content is known beforehand.

        Raises:
            KeyError: a pattern names a slot that does not exist.
        """

        def chosen(match: re.Match[str]) -> str:
            inside: str = match[1]
            if "|" in inside:
                return random.choice(inside.split("|"))
            return facts[inside] if inside in facts else random.choice(self.slots[inside])

        text = random.choice(self.patterns)
        while _CHOICE.search(text):
            text = _CHOICE.sub(chosen, text)
        return _LOST_COMMA.sub("", _SPACES.sub(" ", text)).strip()


@dataclass(frozen=True)
class Wordings:
    """A grammar to train on and another one to measure with."""

    seen: Grammar
    held_out: Grammar

    def of(self, part: Part) -> Grammar:
        """The grammar of `part`."""
        return self.seen if part is Part.SEEN else self.held_out
