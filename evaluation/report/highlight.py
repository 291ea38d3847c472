"""Texts that others wrote, made fit to be read: what is removed stands out, nothing is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Piece:
    """A part of a text, and whether it was removed."""

    text: str
    removed: bool


def pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    """The text cut at its spans, which are ascending and disjoint; no piece is empty."""
    borders = [0, *(border for span in spans for border in span), len(text)]
    cut = [
        Piece(text[start:end], bool(number % 2))
        for number, (start, end) in enumerate(pairwise(borders))
    ]
    return [piece for piece in cut if piece.text]


def visible(text: str) -> str:
    r"""The text with `\u{200b}` for each character that cannot be seen or turns the others around.

    That includes marks of writing direction, control characters and halves of surrogate pairs.
    """
    return "".join(
        character
        if character.isprintable() or character in "\n\r\t"
        else f"\\u{{{ord(character):x}}}"
        for character in text
    )
