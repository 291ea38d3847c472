"""Letters that look like others: styled forms of Latin letters, and twins of other scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

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
_SCRIPTS = (
    (re.compile("[\u0400-\u052f]"), _CYRILLIC, 2),
    (re.compile("[\u0370-\u03ff]"), _GREEK, 5),
    (re.compile("[\u0531-\u0587]"), _ARMENIAN, 2),
)
"""Letters of a script, which of them look Latin, and from which length a mixed word is one."""


def styled_letters(text: str) -> Iterator[Replacement]:
    """Words of full-width, mathematical, circled, raised letters or small capitals.

    A single styled letter, or a few of them, is a formula; a short word counts where it is
    next to a longer one.
    """
    if not _ANY_STYLED.search(text):
        return
    group: list[re.Match[str]] = []
    for word in _WORD_WITH_STYLED.finditer(text):
        if group and not _near(text, group[-1].end(), word.start()):
            yield from _plain_styled(text, group)
            group = []
        group.append(word)
    yield from _plain_styled(text, group)


def _near(text: str, end: int, start: int) -> bool:
    between = text[end:start]
    return len(between) <= 3 and not re.search(r"[\w=+*/^]", between)


def _plain_styled(text: str, group: Sequence[re.Match[str]]) -> Iterator[Replacement]:
    if not any(_is_word(match[0]) for match in group):
        return
    for position in range(group[0].start(), group[-1].end()):
        plain = _plain(text[position])
        if plain != text[position]:
            yield Replacement(position, position + 1, plain)


def _is_word(word: str) -> bool:
    light = len(_LIGHT_LETTER.findall(word))
    styled = len([mark for mark in _STYLED_LETTER.findall(word) if not mark.isdigit()])
    return light >= _STYLED_WORD or (styled > 0 and len(word) >= _STYLED_WORD)


def _plain(character: str) -> str:
    """The ASCII character that a styled one stands for, or the character itself."""
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
    for line in re.finditer(r"[^\n]+", text):
        if not line[0].isascii():
            yield from _line_look_alikes(line)


def _line_look_alikes(line: re.Match[str]) -> Iterator[Replacement]:
    suspects = [
        (letters, twins, shortest)
        for letters, twins, shortest in _SCRIPTS
        if letters.search(line[0])
    ]
    if not suspects or not _LATIN_LETTER.search(line[0]):
        return
    foreign = [
        any(mark not in twins for mark in letters.findall(line[0]))
        for letters, twins, _ in suspects
    ]
    for word in _LETTERS.finditer(line[0]):
        if word[0].isascii():
            continue
        for (letters, twins, shortest), at_home in zip(suspects, foreign, strict=True):
            reading = _reading(word[0], letters, twins, shortest, at_home=at_home)
            for position, (mark, read) in enumerate(zip(word[0], reading, strict=True)):
                if mark != read:
                    start = line.start() + word.start() + position
                    yield Replacement(start, start + 1, read)
            if reading != word[0]:
                break


def _reading(
    word: str, letters: re.Pattern[str], twins: dict[str, str], shortest: int, *, at_home: bool
) -> str:
    """`word` in one script, or as it is."""
    own = letters.findall(word)
    latin = _LATIN_LETTER.findall(word)
    if not own or len(own) + len(latin) < len(word):
        return word
    all_twins = all(mark in twins for mark in own)
    as_latin = "".join(twins.get(mark, mark) for mark in word)
    if not latin:
        return as_latin if all_twins and not at_home and len(word) >= min(shortest, 3) else word
    if all_twins and (
        len(word) >= shortest or (len(word) >= 3 and as_latin.lower() in FREQUENT_WORDS)
    ):
        return as_latin
    back = {read: mark for mark, read in twins.items()}
    if len(own) > len(latin) and all(mark in back for mark in latin) and len(word) >= shortest:
        return "".join(back.get(mark, mark) for mark in word)
    return word
