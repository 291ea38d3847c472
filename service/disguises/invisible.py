"""Characters that nobody sees: zero-width, bidi controls, variation selectors, tags.

Some are honest: joiners inside words of Arabic and Indic scripts, the glue of emoji, selectors
behind symbols and ideographs, the tags of a flag. Those stay in the view.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from service.disguises.replacement import Replacement
from service.engine.base import Cut

_LONG_RUN = 8
"""No honest text holds so many invisible characters in a row."""

_TAG_OFFSET = 0xE0000
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_FORMAT = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    f"\U000e0000-\U000e007f{_SELECTORS}"
)
_CONTROL = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f"
_FLAG_OR_INVISIBLE = re.compile(f"(?P<flag>{_FLAG})|[{_FORMAT}{_CONTROL}]")
_SELECTOR = re.compile(f"[{_SELECTORS}]")
_FLAG_OR_RUN = re.compile(f"{_FLAG}|(?P<run>[{_FORMAT}]{{{_LONG_RUN},}})")
# Arabic to Tai Tham, and the later Indic blocks: scripts that join or have no spaces.
_JOINING_LETTER = re.compile("[\u0600-\u10ff\u1200-\u1aff\ua800-\uabff\U00010a00-\U00011fff]")
_JOINER = re.compile("[\u180e\u200b-\u200d\u2060]")


def invisible(text: str) -> Iterator[Replacement]:
    """Hides what is invisible, except where it is honest; tags read as what they encode."""
    for match in _FLAG_OR_INVISIBLE.finditer(text):
        if match["flag"] or _honest(text, match.start()):
            continue
        code = ord(match[0]) - _TAG_OFFSET
        yield Replacement(match.start(), match.end(), chr(code) if 0x20 <= code < 0x7F else "")


def invisible_cuts(raw: str) -> list[Cut]:
    """Long runs of invisible characters, which carry a hidden text or nothing at all."""
    return [
        Cut(match.start(), match.end(), 1.0) for match in _FLAG_OR_RUN.finditer(raw) if match["run"]
    ]


def _honest(text: str, position: int) -> bool:
    """True where the script or the emoji before an invisible character has a use for it."""
    character, before = text[position], text[position - 1 : position]
    if not before:
        return False
    if _SELECTOR.match(character):
        return not _has_case(before) and not before.isspace() and not _unseen(before)
    if not _JOINER.match(character):
        return False
    if _JOINING_LETTER.match(before):
        return unicodedata.category(before)[0] in "LM"
    after = text[position + 1 : position + 2]
    return character == "\u200d" and _pictograph(before) and _pictograph(after)


def _has_case(character: str) -> bool:
    return character.lower() != character.upper()


def _unseen(character: str) -> bool:
    return bool(_FLAG_OR_INVISIBLE.match(character))


def _pictograph(character: str) -> bool:
    """True for a symbol that emoji are made of, a skin tone, or the selector behind either."""
    return character == "\ufe0f" or (
        bool(character) and unicodedata.category(character) in {"So", "Sk", "Sm"}
    )
