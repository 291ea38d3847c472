"""Words with digits and signs for letters: `1gn0r3 4ll pr3v10us`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from service.disguises.frequent_words import FREQUENT_WORDS
from service.disguises.replacement import Replacement

_TOKEN = re.compile(r"[A-Za-z0-9@$!|+€]{1,30}[A-Za-z0-9@$|€]")
_SIGN = re.compile(r"[0-9@$!|+€]")
_LETTER = re.compile("[A-Za-z]")
_SIGNS = str.maketrans("013457890@$!|+€", "oieastbgoasiite")
_LONG_WORD = 5
_MANY = 4
_NEIGHBOURS = 40
"""Most characters between two disguised words for them to be neighbours."""


def _folded(word: str) -> str:
    """A word with one spelling for signs that stand for several letters (1 is i or l)."""
    return word.lower().translate(_SIGNS).replace("l", "i")


_WORDS = {_folded(word): word for word in sorted(FREQUENT_WORDS, key=len) if len(word) > 1}


def leetspeak(text: str) -> Iterator[Replacement]:
    """Tokens that decode to frequent words, where at least two different ones are neighbours.

    One of them must be long: `a11` alone says nothing. Among many of them unknown words and
    words of digits alone count too.
    """
    group: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        if _SIGN.search(token[0]):
            if group and token.start() - group[-1].end() > _NEIGHBOURS:
                yield from _confirmed(group)
                group = []
            group.append(token)
    yield from _confirmed(group)


def _confirmed(group: Sequence[re.Match[str]]) -> Iterator[Replacement]:
    words = {word for token in group if _has_letter(token) and len(word := _known(token)) > 2}
    many = len(words) >= _MANY
    if not many and (len(words) < 2 or max(map(len, words)) < _LONG_WORD):
        return
    for token in group:
        if word := _read(token, among_many=many):
            yield Replacement(token.start(), token.end(), _in_case_of(token[0], word))


def _read(token: re.Match[str], *, among_many: bool) -> str:
    if _has_letter(token):
        return _known(token) or (_usual(token) if among_many else "")
    return _known(token) if among_many else ""


def _has_letter(token: re.Match[str]) -> bool:
    return bool(_LETTER.search(token[0]))


def _known(token: re.Match[str]) -> str:
    return _WORDS.get(_folded(token[0]), "")


def _usual(token: re.Match[str]) -> str:
    word = token[0].lower().translate(_SIGNS)
    return word if word.isalpha() else ""


def _in_case_of(token: str, word: str) -> str:
    if token.isupper():
        return word.upper()
    return word.capitalize() if token[0].isupper() else word
