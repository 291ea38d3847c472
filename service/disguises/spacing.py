"""Words whose letters stand apart: `i g n o r e`, `i.g.n.o.r.e`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from service.disguises.replacement import Replacement

_SINGLE = r"(?:[^\W_]|['’,:;!?](?=[ \t]))"
_APART = r"[ \t\u00a0\u2000-\u200a\u2800\u3000._*|/~·•-]{1,4}"
_RUN = re.compile(rf"(?<![^\W_])[^\W_](?:{_APART}{_SINGLE}){{7,}}(?![^\W_])")
_BETWEEN = re.compile(_APART)
_LETTER_SHARE = 0.75
"""Columns of figures are no words."""


def spaced_out(text: str) -> Iterator[Replacement]:
    """Runs of at least eight single letters, joined.

    The separator that the run has most is between letters, any other between words.
    """
    for run in _RUN.finditer(text):
        singles = _BETWEEN.sub("", run[0])
        if sum(map(str.isalpha, singles)) < _LETTER_SHARE * len(singles):
            continue
        gaps = list(_BETWEEN.finditer(run[0]))
        [(usual, _)] = Counter(gap[0] for gap in gaps).most_common(1)
        for gap in gaps:
            read = "" if gap[0] == usual else " "
            if gap[0] != read:
                yield Replacement(run.start() + gap.start(), run.start() + gap.end(), read)
