"""Words whose letters stand apart: `i g n o r e`, `i.g.n.o.r.e`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from service.disguises.replacement import Replacement

_BLANKS = "[ \t\u00a0\u2000-\u200a\u2800\u3000]{1,4}"
_BY_BLANKS = re.compile(rf"(?<!\S)\S(?:{_BLANKS}\S(?!\w)[.,:;!?]?){{7,}}")
_BY_MARKS = re.compile(
    r"(?<![^\W_])[^\W_](?P<mark>[-_*./|~·•])\S(?:(?:(?P=mark)| {1,3})\S(?![^\W_])){6,}"
)
_GAP = re.compile(_BLANKS)
_MARKS_PER_BLANK = 2
"""Formulae with indices such as `e_j = d_j` have fewer."""
_LETTER_SHARE = 0.75
"""Columns of figures, formulae and tables are no words."""


def spaced_out(text: str) -> Iterator[Replacement]:
    """Runs of at least eight single characters with blanks between them, joined.

    The blank that a run has most is between letters, any other between words.
    """
    for run in _BY_BLANKS.finditer(text):
        gaps = [gap.span() for gap in _GAP.finditer(text, *run.span())]
        [(usual, _)] = Counter(text[start:end] for start, end in gaps).most_common(1)
        yield from _joined(text, run, gaps, usual)


def marked_out(text: str) -> Iterator[Replacement]:
    """The same with a dash, a dot or another mark between letters and blanks between words."""
    for run in _BY_MARKS.finditer(text):
        gaps = list(_gaps(text, run))
        marks = sum(text[start:end] == run["mark"] for start, end in gaps)
        if marks >= _MARKS_PER_BLANK * (len(gaps) - marks):
            yield from _joined(text, run, gaps, run["mark"])


def _gaps(text: str, run: re.Match[str]) -> Iterator[tuple[int, int]]:
    """What is between the single characters, one of which may be the mark itself."""
    position = run.start() + 1
    while position < run.end():
        gap = _GAP.match(text, position)
        end = gap.end() if gap else position + 1
        yield position, end
        position = end + 1


def _joined(
    text: str, run: re.Match[str], gaps: list[tuple[int, int]], usual: str
) -> Iterator[Replacement]:
    singles = len(run[0]) - sum(end - start for start, end in gaps)
    if sum(map(str.isalpha, run[0])) < _LETTER_SHARE * singles:
        return
    for start, end in gaps:
        read = "" if text[start:end] == usual else " "
        if text[start:end] != read:
            yield Replacement(start, end, read)
