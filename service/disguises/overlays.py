"""Letters under marks: each of a word's letters is struck through, underlined or dotted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.disguises.replacement import Replacement

_LINE = re.compile(r"[^\n]+")
_COMBINING = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
_OVERLAY = re.compile(f"(?<=[A-Za-z]){_COMBINING}")
_OVERLAID_WORD = re.compile(f"(?:[A-Za-z]{_COMBINING}){{4}}")


def overlaid(text: str) -> Iterator[Replacement]:
    """Hides combining marks in lines with words whose letters all carry some.

    Where marks belong to a language, letters without them are between.
    """
    if _OVERLAID_WORD.search(text):
        for line in _LINE.finditer(text):
            if _OVERLAID_WORD.search(line[0]):
                for marks in _OVERLAY.finditer(text, *line.span()):
                    yield Replacement(marks.start(), marks.end(), "")
