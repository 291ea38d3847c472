"""Marking: the model says of each token of a text whether it is cut; it writes nothing at all.

It has read the whole answer in its prompt when it reads it again, token by token, so it knows what
comes. One pass suffices for a text, whatever is cut from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from service.engine.base import CopyRequest, Cut, Role
from service.engine.borders import border_costs
from service.engine.frames import with_frame
from service.engine.language_model import LanguageModel
from service.engine.marks import probability
from service.engine.tokens import DraftToken
from service.engine.windows import CopiedText, Window, cut_texts
from service.errors import PromptTooLongError

_MOST_SAID = 5.0
"""No token says more than this for or against a cut (in nats), so that none decides alone."""
_LEAST_SAID = 20.0
"""The tokens of a cut say at least this, all in all: found on validation questions."""


def mark_texts(
    model: LanguageModel, requests: Sequence[CopyRequest]
) -> list[CopiedText | PromptTooLongError]:
    """Cut from each raw text the runs of tokens that the model marks."""

    def read(windows: Sequence[Window]) -> Iterator[CopiedText]:
        odds = model.mark(
            Role.FILTER,
            windows[0].head,
            [window.tail for window in windows],
            [window.ids for window in windows],
        )
        for window, marks in zip(windows, odds, strict=True):
            yield CopiedText(tuple(_cuts(window, marks)), 1)

    return cut_texts(model, requests, read)


def marked_runs(odds: Sequence[float], borders: Sequence[float]) -> list[tuple[int, int]]:
    """The runs [first, last) of tokens whose odds, less the costs of their borders, sum highest.

    Args:
        odds: for each token the log-odds that it is cut.
        borders: the cost of a border before each token, and behind the last one.

    Returns:
        Ascending runs (the likeliest path through two states; Viterbi, 1967).
    """
    stays, cut = 0.0, -math.inf
    began: list[bool] = []
    ended: list[bool] = []
    for said, cost in zip(odds, borders, strict=False):
        began.append(stays - cost > cut)
        ended.append(cut - cost > stays)
        stays, cut = max(stays, cut - cost), max(cut, stays - cost) + said
    runs: list[tuple[int, int]] = []
    inside, last = cut - borders[-1] > stays, len(odds)
    for place in reversed(range(len(odds))):
        if inside and began[place]:
            runs.append((place, last))
            inside = False
        elif not inside and ended[place]:
            inside, last = True, place
    return runs[::-1]


def _cuts(window: Window, marks: Sequence[float]) -> Iterator[Cut]:
    tokens = window.draft
    said = [
        0.0 if _blank(window.text, token) else max(-_MOST_SAID, min(_MOST_SAID, mark))
        for token, mark in zip(tokens, marks, strict=True)
    ]
    for first, last in marked_runs(said, border_costs(window.text, tokens)):
        if sum(said[first:last]) < _LEAST_SAID:
            continue
        sure = sum(map(probability, said[first:last])) / (last - first)
        yield Cut(*with_frame(window.text, tokens[first].start, tokens[last - 1].end), sure)


def _blank(text: str, token: DraftToken) -> bool:
    """White space is never asked about."""
    return text[token.start : token.end].isspace()
