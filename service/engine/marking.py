"""Marking: the model says of each token of a text whether it is cut; it writes nothing at all.

It has read the whole answer in its prompt when it reads it again, token by token, so it knows what
comes. One pass suffices for a text, whatever is cut from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from service.engine.base import CopyRequest, Cut, Role
from service.engine.language_model import LanguageModel
from service.engine.tokens import DraftToken
from service.engine.windows import CopiedText, Window, WindowCuts, cut_texts
from service.errors import PromptTooLongError

_MOST_SAID = 5.0
"""No token says more than this for or against a cut (in nats), so that none decides alone."""
_BORDER = 4.0
"""What the tokens of a cut must outweigh for each of its two borders."""


def mark_texts(
    model: LanguageModel, requests: Sequence[CopyRequest]
) -> list[CopiedText | PromptTooLongError]:
    """Cut from each raw text the runs of tokens that the model marks."""

    def read(windows: Sequence[Window]) -> Iterator[WindowCuts]:
        odds = model.mark(
            Role.FILTER,
            windows[0].head,
            [window.tail for window in windows],
            [window.ids for window in windows],
        )
        for window, marks in zip(windows, odds, strict=True):
            yield WindowCuts(list(_cuts(window, marks)), 1)

    return cut_texts(model, requests, read)


def marked_runs(odds: Sequence[float]) -> list[tuple[int, int]]:
    """The runs [first, last) of tokens to cut, ascending: the likeliest ones altogether.

    Args:
        odds: for each token the log-odds that it is cut. A run begins and ends where the sum of
            its odds, less what its borders cost, adds the most (Viterbi, 1967: two states).
    """
    said = [max(-_MOST_SAID, min(_MOST_SAID, each)) for each in odds]
    stays, cut = 0.0, -math.inf
    began: list[bool] = []
    ended: list[bool] = []
    for each in said:
        began.append(stays - _BORDER > cut)
        ended.append(cut - _BORDER > stays)
        stays, cut = max(stays, cut - _BORDER), max(cut, stays - _BORDER) + each
    runs: list[tuple[int, int]] = []
    inside, last = cut - _BORDER > stays, len(said)
    for place in reversed(range(len(said))):
        if inside and began[place]:
            runs.append((place, last))
            inside = False
        elif not inside and ended[place]:
            inside, last = True, place
    return runs[::-1]


def _cuts(window: Window, marks: Sequence[float]) -> Iterator[Cut]:
    tokens = window.draft
    odds = [
        0.0 if _blank(window.text, token) else mark
        for token, mark in zip(tokens, marks, strict=True)
    ]
    for first, last in marked_runs(odds):
        sure = sum(1 / (1 + math.exp(-each)) for each in odds[first:last]) / (last - first)
        yield Cut(tokens[first].start, tokens[last - 1].end, sure)


def _blank(text: str, token: DraftToken) -> bool:
    """White space is never asked about."""
    return text[token.start : token.end].isspace()
