"""Small grammars: a text with slots in ‹ ›, filled from rules or from a choice on the spot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

Rules = Mapping[str, Sequence[str]]

# Innermost first, so that a slot may hold slots. The marks are rare enough to need no escape.
_SLOT = re.compile(r"‹([^‹›]*)›")


def expand(text: str, rules: Rules, random: Random) -> str:
    """`text` with every slot filled.

    `‹this|that›` is one of its alternatives, which may be empty; `‹name›` is one of the texts
    of the rule `name`, whose slots are filled in turn; `‹#name›` is drawn once and then the
    same wherever it stands in `text`.
    """
    drawn: dict[str, str] = {}

    def fill(match: re.Match[str]) -> str:
        inner: str = match[1]
        if "|" in inner:
            return random.choice(inner.split("|"))
        if inner.startswith("#"):
            return drawn.setdefault(inner, random.choice(rules[inner[1:]]))
        return random.choice(rules[inner])

    while _SLOT.search(text):
        text = _SLOT.sub(fill, text)
    return text
