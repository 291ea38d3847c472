"""Letters that look like others: styled forms of Latin letters, and twins of other scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.disguises.frequent_words import FREQUENT_WORDS
from service.disguises.replacement import Replacement

_STYLED_WORD = 4
"""Shorter runs of styled letters are formulae, units and acronyms."""

# Full-width, mathematical, circled, squared and regional letters.
_STYLED = (
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d6a3\U0001d7ce-\U0001d7ff"
    "\u24b6-\u24e9\u249c-\u24b5\U0001f110-\U0001f129\U0001f130-\U0001f149"
    "\U0001f150-\U0001f169\U0001f170-\U0001f189\u2102\u210a-\u2115\u2119-\u211d\u2124\u2128"
    "\u212c-\u2131\u2133\u2134\u2139\u2145-\u2149"
)
_RAISED = (
    "\u1d2c-\u1d6a\u02b0-\u02b8\u02e1-\u02e3\u2071\u207f\u2090-\u209c\u1d9c-\u1dbf\u2c7c-\u2c7d"
)
_SMALL_CAPITALS = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢǫ", "abcdefghijklmnoprstuvwyzq", strict=True))
_LIGHT = f"{_RAISED}{''.join(_SMALL_CAPITALS)}"
_STYLED_LETTER = re.compile(f"[{_STYLED}]")
_LIGHT_LETTER = re.compile(f"[{_LIGHT}]")
_ANY_STYLED = re.compile(f"[{_STYLED}{_LIGHT}]")
_WORD_WITH_STYLED = re.compile(f"[A-Za-z]*[{_STYLED}{_LIGHT}][A-Za-z{_STYLED}{_LIGHT}]*")
_PLAINABLE = re.compile(f"[{_STYLED}{_LIGHT}\uff01-\uff5e]")
_WIDE_SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LINE = re.compile(r"[^\n]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN_LETTER = re.compile("[A-Za-zªºÀ-ÖØ-öø-ɏ\u1e00-\u1eff]")

_CYRILLIC = dict(
    zip(
        "аеорсухіјѕһԁԛԝкмнтвгпАВЕКМНОРСТУХІЈЅԌҮЗЬ",
        "aeopcyxijshdqwkmhtbrnABEKMHOPCTYXIJSGY3b",
        strict=True,
    )
)
_GREEK = dict(zip("αονρικτυηωγχεΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳ", "aovpiktunwyxeABEZHIKMNOPTYXcj", strict=True))
_ARMENIAN = dict(zip("օոսհցզՕՍԼ", "onuhgqOUL", strict=True))
_MIXED_WORDS = 3
"""In a line with so many words that mix two scripts, short words and letters count too."""


@dataclass(frozen=True)
class _Script:
    """A script with letters that look Latin.

    Attributes:
        letters: matches each of its letters.
        twins: letter → Latin letter that looks like it.
        shortest: length from which a word that mixes it with Latin is no formula or unit.
    """

    letters: re.Pattern[str]
    twins: Mapping[str, str]
    shortest: int

    def is_mixed(self, word: str) -> bool:
        """True for a word of Latin letters and twins."""
        own = self.letters.findall(word)
        latin = len(_LATIN_LETTER.findall(word))
        return bool(own) and latin > 0 and len(own) + latin == len(word) and self._fit(own)

    def reading(self, word: str, *, at_home: bool, suspicious: bool) -> str:
        """`word` in one script, or as it is.

        Args:
            word: letters only.
            at_home: other words of the line are in this script for sure.
            suspicious: many words of the line mix it with Latin.
        """
        shortest = 1 if suspicious else self.shortest
        as_latin = "".join(self.twins.get(mark, mark) for mark in word)
        own = self.letters.findall(word)
        if len(own) == len(word):
            latin = self._fit(own) and not at_home and len(word) >= min(shortest, 3)
            return as_latin if latin else word
        if self.is_mixed(word):
            known = len(word) > 2 and as_latin.lower() in FREQUENT_WORDS
            return as_latin if known or len(word) >= shortest else word
        return self._at_home(word, own)

    def _fit(self, own: Sequence[str]) -> bool:
        return all(mark in self.twins for mark in own)

    def _at_home(self, word: str, own: Sequence[str]) -> str:
        """A word of this script with few Latin letters, all in it."""
        back = {read: mark for mark, read in self.twins.items()}
        latin = _LATIN_LETTER.findall(word)
        mixed = len(own) > len(latin) > 0 and len(own) + len(latin) == len(word)
        if not mixed or not all(mark in back for mark in latin):
            return word
        return "".join(back.get(mark, mark) for mark in word)


_SCRIPTS = (
    _Script(re.compile("[\u0400-\u052f]"), _CYRILLIC, 1),
    _Script(re.compile("[\u0370-\u03ff]"), _GREEK, 5),
    _Script(re.compile("[\u0531-\u0587]"), _ARMENIAN, 2),
)


def styled_letters(text: str) -> Iterator[Replacement]:
    """Words of full-width, mathematical, circled, raised letters or small capitals.

    A single styled letter, or a few of them, is a formula. They count in a line with words of
    them: the whole line then reads plainly.
    """
    if not _ANY_STYLED.search(text):
        return
    for line in _LINE.finditer(text):
        words = list(_WORD_WITH_STYLED.finditer(text, *line.span()))
        styled = sum(_is_word(word[0]) for word in words)
        spans = [line.span()] if styled > 1 and not _WIDE_SCRIPT.search(line[0]) else []
        if styled and not spans:
            spans = [word.span() for word in words if len(word[0]) > 1]
        for start, end in spans:
            yield from _plain_styled(text, start, end)


def _plain_styled(text: str, start: int, end: int) -> Iterator[Replacement]:
    for position in range(start, end):
        plain = _plain(text[position])
        if plain != text[position]:
            yield Replacement(position, position + 1, plain)


def _is_word(word: str) -> bool:
    light = len(_LIGHT_LETTER.findall(word))
    styled = len([mark for mark in _STYLED_LETTER.findall(word) if not mark.isdigit()])
    return light >= _STYLED_WORD or (styled > 0 and len(word) >= _STYLED_WORD)


def _plain(character: str) -> str:
    """The ASCII character that a styled one stands for, or the character itself."""
    if not _PLAINABLE.match(character):
        return character
    if character in _SMALL_CAPITALS:
        return _SMALL_CAPITALS[character]
    code = ord(character)
    for first in (0x1F150, 0x1F170):
        if first <= code < first + 26:
            return chr(ord("A") + code - first)
    plain = unicodedata.normalize("NFKC", character).strip("()")
    return plain if plain.isascii() and len(plain) == 1 else character


def look_alikes(text: str) -> Iterator[Replacement]:
    """Letters of another script that look like those of the script that the word is in.

    Words that mix scripts are read in the one that all of their letters fit. A word wholly of
    twins is Latin where its line has Latin words and no other letter of the word's script.
    """
    if text.isascii():
        return
    for line in _LINE.finditer(text):
        if not line[0].isascii() and _LATIN_LETTER.search(line[0]):
            found = [
                replacement
                for script in _SCRIPTS
                if script.letters.search(line[0])
                for replacement in _line_look_alikes(text, line, script)
            ]
            yield from sorted(found, key=lambda replacement: replacement.start)


def _line_look_alikes(text: str, line: re.Match[str], script: _Script) -> Iterator[Replacement]:
    words = [word for word in _LETTERS.finditer(text, *line.span()) if not word[0].isascii()]
    at_home = any(mark not in script.twins for mark in script.letters.findall(line[0]))
    sure = sum(len(word[0]) > 2 and script.is_mixed(word[0]) for word in words)
    for word in words:
        reading = script.reading(word[0], at_home=at_home, suspicious=sure >= _MIXED_WORDS)
        for position, (mark, read) in enumerate(zip(word[0], reading, strict=True)):
            if mark != read:
                yield Replacement(word.start() + position, word.start() + position + 1, read)
