"""English that is turned around: rot13, and text that runs backwards."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence

from service.disguises.frequent_words import FREQUENT_WORDS
from service.disguises.replacement import Replacement

_SENTENCE = re.compile(r"[^\n.!?:;()\"]+")
_WORD = re.compile(r"[A-Za-z]+")
_FEWEST = 4
_EDGE = 3
_SHARE = 0.5
"""How many of the words become frequent ones; of any honest sentence nearly none do."""


def rot13(text: str) -> Iterator[Replacement]:
    """Sentences, or parts of one, that are English in rot13."""
    for start, end in _turned(text, _rot13):
        for position in range(start, end):
            mark = text[position]
            if mark.isascii() and mark.isalpha():
                yield Replacement(position, position + 1, _rot13(mark))


def backwards(text: str) -> Iterator[Replacement]:
    """Sentences, or parts of one, that are English from right to left."""
    for start, end in _turned(text, lambda word: word[::-1]):
        yield Replacement(start, end, text[start:end][::-1])


def _rot13(text: str) -> str:
    return codecs.encode(text, "rot13")


def _turned(text: str, turn: Callable[[str], str]) -> Iterator[tuple[int, int]]:
    """Stretches whose words are frequent once they are turned, and were not before."""
    for sentence in _SENTENCE.finditer(text):
        words = list(_WORD.finditer(text, sentence.start(), sentence.end()))
        hits = [_frequent(turn(word[0])) and not _frequent(word[0]) for word in words]
        if sum(hits) < _FEWEST * _SHARE:
            continue
        inner = [index for index, hit in enumerate(hits) if hit]
        if _is_turned(hits[inner[0] : inner[-1] + 1]):
            first, last = _with_edges(words, inner[0], inner[-1])
            yield words[first].start(), words[last].end()


def _is_turned(hits: Sequence[bool]) -> bool:
    return len(hits) >= _FEWEST and sum(hits) >= _SHARE * len(hits)


def _with_edges(words: Sequence[re.Match[str]], first: int, last: int) -> tuple[int, int]:
    """A stretch with the rest of its sentence, where that is a few unknown words."""
    if _is_edge(words[:first], words[first].start()):
        first = 0
    if _is_edge(words[last + 1 :], words[-1].end()):
        last = len(words) - 1
    return first, last


def _is_edge(words: Sequence[re.Match[str]], end: int) -> bool:
    if not 0 < len(words) <= _EDGE or any(_frequent(word[0]) for word in words):
        return False
    return "," not in words[0].string[words[0].start() : end]


def _frequent(word: str) -> bool:
    return len(word) > 1 and word.lower() in FREQUENT_WORDS
