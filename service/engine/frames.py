"""Marks around something that was put into a text: what opens and what closes it go together."""

from __future__ import annotations

import re

_PAIRS = "<>()[]{}«»“”"
_MATE = {
    **dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)),
    **dict(zip(_PAIRS[1::2], _PAIRS[::2], strict=True)),
}
_EITHER_SIDE = frozenset("!?/")
_PROSE = frozenset(".,;:!?'\"-*+•")
"""What sentences and lists are made of frames nothing."""

_OPENS = re.compile(r"\s*([^\w\s]+)")
_CLOSES = re.compile(r"([^\w\s]+)\s*$")
_BEFORE = re.compile(r"(?:^|(?<=\s))([^\w\s]+)\s*$")
_BEHIND = re.compile(r"\s*([^\w\s]+)(?=\s|$)")


def with_frame(text: str, start: int, end: int) -> tuple[int, int]:
    """The cut [start, end) with the mark before it that it closes, or behind it that it opens.

    `<!-- … ` takes the `-->` that follows, and ` … ]]` the `[[` before it.
    """
    inside = text[start:end]
    opens, behind = _OPENS.match(inside), _BEHIND.match(text, end)
    if opens and behind and _mates(behind[1], opens[1]):
        end = behind.end(1)
    closes, before = _CLOSES.search(inside), _BEFORE.search(text[:start])
    if closes and before and _mates(before[1], closes[1]):
        start = before.start(1)
    return start, end


def _mates(one: str, other: str) -> bool:
    if _PROSE.issuperset(one):
        return False
    return {_MATE.get(mark, mark) for mark in one} - _EITHER_SIDE <= {*other}
