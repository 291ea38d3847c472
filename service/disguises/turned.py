"""English that is turned around: rot13, and text that runs backwards."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from service.disguises.frequent_words import FREQUENT_WORDS
from service.disguises.replacement import Replacement

_LINE = re.compile(r"[^\n]+")
_TOKEN = re.compile(r"\S+")
_NO_LETTERS = re.compile(r"[^A-Za-z]+")

_WEIGHTS = {0: 0.0, 1: 0.0, 2: 0.2, 3: 0.5}
"""What a word weighs by its length, if not 1: short words are words of some other language."""
_UNKNOWN = -0.3
_ENOUGH = 2.5
"""Stretches that weigh less may be a coincidence."""
_LOSS = 1.5
"""A stretch ends before words that weigh so much against it."""
_MARKS = ".,:;!?"
_GAP = 2
"""So many unknown words may stand between a stretch and one more of its words."""

_PERCENT = (
    "12.7 9.1 8.2 7.5 7 6.7 6.3 6.1 6 4.3 4 2.8 2.8 2.4 2.4 2.2 2 2 1.9 1.5 1 .8 .15 .15 .1 .07"
)
_LETTER_PERCENT = dict(zip("etaoinshrdlcumwfgypbvkjxqz", map(float, _PERCENT.split()), strict=True))


@dataclass(frozen=True)
class _Turn:
    """A way to turn text around.

    Attributes:
        word: turns a word around, there and back.
        looks_turned: tells a token that belongs to a stretch beside it, even if unknown.
        looks_plain: tells a token that does not.
        edge: so many unknown words between a stretch and the border of its line belong to it.
    """

    word: Callable[[str], str]
    looks_turned: Callable[[str], bool]
    looks_plain: Callable[[str], bool]
    edge: int


def rot13(text: str) -> Iterator[Replacement]:
    """Stretches of a line that are English in rot13."""
    for tokens in _turned(text, _Turn(_rot13, _sounds_rotated, lambda _: False, edge=0)):
        for position in range(tokens[0].start(), tokens[-1].end()):
            mark = text[position]
            if mark.isascii() and mark.isalpha():
                yield Replacement(position, position + 1, _rot13(mark))


def backwards(text: str) -> Iterator[Replacement]:
    """Stretches of a line that are English from right to left, as a whole or word by word."""
    for tokens in _turned(text, _Turn(_reversed, _looks_reversed, _looks_plain, edge=3)):
        if _word_by_word([token[0] for token in tokens]):
            for token in tokens:
                yield Replacement(token.start(), token.end(), _reversed(token[0]))
        else:
            start, end = tokens[0].start(), tokens[-1].end()
            yield Replacement(start, end, _reversed(text[start:end]))


def _rot13(text: str) -> str:
    return codecs.encode(text, "rot13")


def _reversed(text: str) -> str:
    return text[::-1]


def _sounds_rotated(token: str) -> bool:
    """True if the letters of a word are likelier ones in rot13."""
    odds = sum(
        math.log(_LETTER_PERCENT[_rot13(letter)] / _LETTER_PERCENT[letter])
        for letter in _letters(token).lower()
    )
    return odds > 0


def _looks_reversed(token: str) -> bool:
    return _begins_with_mark(token) or _ends_in_capital(token)


def _begins_with_mark(token: str) -> bool:
    return token[0] in _MARKS and token[-1] not in _MARKS


def _ends_in_capital(token: str) -> bool:
    letters = _letters(token)
    return letters[-1:].isupper() and letters[0].islower()


def _looks_plain(token: str) -> bool:
    return (token[0].isupper() and token[-1].islower()) or token[-1] in _MARKS


def _word_by_word(tokens: Sequence[str]) -> bool:
    """True if sentences begin on the left: their capitals are behind their marks, not before."""
    begins = [_ends_in_capital(token) for token in tokens]
    ends = [_begins_with_mark(token) for token in tokens]
    left = sum(end and begin for end, begin in zip([True, *ends], [*begins, False], strict=True))
    right = sum(end and begin for end, begin in zip([*ends, True], [False, *begins], strict=True))
    return left + ends[-1] > right + ends[0]


def _turned(text: str, turn: _Turn) -> Iterator[Sequence[re.Match[str]]]:
    """Stretches whose words are frequent once they are turned, and were not before."""
    for line in _LINE.finditer(text):
        tokens = list(_TOKEN.finditer(text, *line.span()))
        weights = [_weight(_letters(token[0]), turn.word) for token in tokens]
        done = 0
        for first, last in _stretches(weights):
            if last < done:
                continue
            begin = max(first, done)
            begin -= _reach(tokens, range(begin - 1, done - 1, -1), turn)
            done = last + 1 + _reach(tokens, range(last + 1, len(tokens)), turn)
            yield tokens[begin:done]


def _letters(token: str) -> str:
    return _NO_LETTERS.sub("", token)


def _weight(word: str, turn: Callable[[str], str]) -> float:
    """How much a word speaks for having been turned."""
    usual = _WEIGHTS.get(len(word), 1.0)
    plain, turned = _frequent(word), _frequent(turn(word))
    if plain == turned:
        return 0.0 if plain else _UNKNOWN * usual
    return usual if turned else -usual


def _stretches(weights: Sequence[float]) -> Iterator[tuple[int, int]]:
    """[first, last] of each stretch that weighs enough and loses little on the way."""
    first = last = 0
    total = best = 0.0
    for index, weight in enumerate([*weights, -math.inf]):
        if total <= 0 and weight > 0:
            first, total, best = index, 0.0, 0.0
        total += weight
        if total > best:
            last, best = index, total
        if best and total < max(best - _LOSS, 0):
            if best >= _ENOUGH:
                yield first, last
            total = best = 0.0


def _reach(tokens: Sequence[re.Match[str]], places: range, turn: _Turn) -> int:
    """How many of the tokens beside a stretch belong to it; `places` has the nearest first."""
    reach = free = 0
    for place in places:
        token = tokens[place]
        word = _letters(token[0])
        known = _frequent(turn.word(word))
        if (_frequent(word) and not known) or turn.looks_plain(token[0]):
            break
        free += 1
        if known or (word and turn.looks_turned(token[0])):
            reach = free
        elif free - reach > _GAP:
            break
    return free if free == len(places) <= turn.edge else reach


def _frequent(word: str) -> bool:
    return len(word) > 1 and word.lower() in FREQUENT_WORDS
