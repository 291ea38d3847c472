"""Words with digits and signs for letters: `1gn0r3 4ll pr3v10us`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from service.disguises.frequent_words import FREQUENT_WORDS
from service.disguises.replacement import Replacement

_TOKEN = re.compile(r"[A-Za-z0-9@$!|+€]{2,30}")
_SIGN = re.compile(r"[0-9@$!|+€]")
_SIGNS = str.maketrans("0134567890@$!|+€l", "oieasgtbgoasiitei")
_LONG_WORD = 5
_NEIGHBOURS = 40
"""Most characters between two disguised words for them to be neighbours."""


def _folded(word: str) -> str:
    """A word with one spelling for signs that stand for several letters (1 is i or l)."""
    return word.lower().translate(_SIGNS)


_WORDS = {_folded(word): word for word in sorted(FREQUENT_WORDS, key=len) if len(word) > 1}


def leetspeak(text: str) -> Iterator[Replacement]:
    """Tokens that decode to frequent words, where at least two different ones are neighbours.

    One of them must be long: `a11` alone says nothing.
    """
    group: list[Replacement] = []
    for token in _TOKEN.finditer(text):
        core = token[0].rstrip("!")
        if word := _decoded(core):
            if group and token.start() - group[-1].end > _NEIGHBOURS:
                yield from _confirmed(group)
                group = []
            group.append(Replacement(token.start(), token.start() + len(core), word))
    yield from _confirmed(group)


def _confirmed(group: Sequence[Replacement]) -> Sequence[Replacement]:
    words = {found.text for found in group if len(found.text) > 2}
    return group if len(words) > 1 and max(map(len, words)) >= _LONG_WORD else ()


def _decoded(token: str) -> str | None:
    if not _SIGN.search(token) or not re.search("[A-Za-z]", token):
        return None
    return _WORDS.get(_folded(token))
