"""Parts of raw texts that a model reads at once, and the cuts that it makes in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from service.engine.base import CopyRequest, Cut
from service.engine.groups import TOKENS_AT_ONCE, grouped
from service.engine.language_model import LanguageModel, logits_width
from service.engine.tokens import DraftToken
from service.errors import PromptTooLongError

_OVERLAP = 8
"""Neighbouring windows share this fraction of a window."""
_SHORTEST_WINDOW = 64
_MOST_FILLED = 0.1
"""At most this fraction of what is read at once may be filling."""

_WINDOW_END = re.compile(r"\n|[.!?] ")


@dataclass(frozen=True)
class CopiedText:
    """What is cut from a text or a window of it, and how many forward passes that took."""

    cuts: tuple[Cut, ...]
    passes: int


@dataclass(frozen=True)
class Window:
    """A part of a raw text that fits the context with its own prompt.

    Attributes:
        text: the part.
        start: where it begins in the raw text.
        head: ids of the prompt up to the answer.
        tail: ids of the rest of the prompt, which shows the part.
        draft: the part itself.
    """

    text: str
    start: int
    head: list[int]
    tail: list[int]
    draft: list[DraftToken]

    @property
    def length(self) -> int:
        """Tokens of prompt and draft, and the end of the turn."""
        return len(self.head) + len(self.tail) + len(self.draft) + 1

    @property
    def ids(self) -> list[int]:
        """The draft's tokens as the model reads them."""
        return [token.token_id for token in self.draft]


Read = Callable[[Sequence[Window]], Iterator[CopiedText]]
"""Decides about windows that share a head and are read at once, in their order.

Its cuts are in code points of the window."""


def cut_texts(
    model: LanguageModel, requests: Sequence[CopyRequest], read: Read
) -> list[CopiedText | PromptTooLongError]:
    """Decide for each raw text what stays, reading as many texts at once as fit."""
    plans = [_plan(model, request) for request in requests]
    windows = [
        (index, window)
        for index, plan in enumerate(plans)
        if not isinstance(plan, PromptTooLongError)
        for window in plan
    ]
    cuts: dict[int, list[Cut]] = defaultdict(list)
    passes: dict[int, int] = defaultdict(int)
    windows.sort(key=lambda entry: (entry[1].head, entry[1].length))
    together = partial(_together, positions=model.positions_at_once)
    for group in grouped(windows, together):
        for (index, window), made in zip(group, read([each for _, each in group]), strict=True):
            for cut in made.cuts:
                start, end = window.start + cut.start, window.start + cut.end
                cuts[index].append(Cut(start, end, cut.confidence))
            passes[index] += made.passes
    return [
        plan
        if isinstance(plan, PromptTooLongError)
        else CopiedText(merge_cuts(cuts[index]), passes[index])
        for index, plan in enumerate(plans)
    ]


def merge_cuts(cuts: Sequence[Cut]) -> tuple[Cut, ...]:
    """The union of cuts, ascending; where some overlap or touch, the highest confidence counts."""
    merged: list[Cut] = []
    for cut in sorted(cuts, key=lambda cut: cut.start):
        if merged and cut.start <= merged[-1].end:
            last = merged.pop()
            end, confidence = max(last.end, cut.end), max(last.confidence, cut.confidence)
            merged.append(Cut(last.start, end, confidence))
        else:
            merged.append(cut)
    return tuple(merged)


def _plan(model: LanguageModel, request: CopyRequest) -> list[Window] | PromptTooLongError:
    raw = request.raw
    draft = model.encoder.draft(raw, continues=True)
    if not draft:
        return []
    encoder, head = model.encoder, model.encoder.head_ids(request.prompt)
    whole = Window(raw, 0, head, encoder.tail_ids(request.prompt), draft)
    if _fits(model, whole):
        return [whole]
    frame = len(head) + len(encoder.tail_ids(request.prompt.with_answer("")))
    size = min((model.context - frame) // 2, model.positions_at_once) - 1
    while size >= _SHORTEST_WINDOW:
        windows = [
            Window(
                raw[start:end],
                start,
                head,
                encoder.tail_ids(request.prompt.with_answer(raw[start:end])),
                encoder.draft(raw[start:end], continues=True),
            )
            for start, end in _split(raw, draft, size)
        ]
        if all(_fits(model, window) for window in windows):
            return windows
        size = size * 3 // 4
    needed = frame + 2 * _SHORTEST_WINDOW
    return PromptTooLongError("the filter prompt without the answer", needed, model.context)


def _fits(model: LanguageModel, window: Window) -> bool:
    return window.length <= model.context and len(window.draft) < model.positions_at_once


def _split(raw: str, draft: Sequence[DraftToken], size: int) -> Iterator[tuple[int, int]]:
    """Overlapping windows of at most `size` tokens that begin and end at lines or sentences."""
    offsets = [token.start for token in draft]
    borders = [match.end() for match in _WINDOW_END.finditer(raw)]
    offsets.append(len(raw))
    first = 0
    while True:
        last = min(first + size, len(offsets) - 1)
        start, end = offsets[first], offsets[last]
        if end == len(raw):
            yield start, end
            return
        end = _border(borders, offsets[last - size // 4], end)
        yield start, end
        shared = bisect_right(offsets, end) - 1 - size // _OVERLAP
        begin = _border(
            borders, offsets[max(shared - size // _OVERLAP, first + 1)], offsets[shared]
        )
        first = bisect_right(offsets, begin) - 1


def _border(borders: Sequence[int], lowest: int, highest: int) -> int:
    """The last border in [lowest, highest], or `highest` where there is none."""
    place = bisect_right(borders, highest) - 1
    return borders[place] if place >= 0 and borders[place] >= lowest else highest


def _together(entries: Sequence[tuple[int, Window]], positions: int) -> bool:
    """True if windows are of one head, and neither their logits nor memory too large.

    Windows of unlike lengths are read apart, or filling them up would cost more than it saves.
    """
    rows = [window for _, window in entries]
    return rows[0].head == rows[-1].head and _fit_together(rows, positions)


def _fit_together(rows: Sequence[Window], positions: int) -> bool:
    head, longest = len(rows[0].head), max(window.length for window in rows)
    logits = len(rows) * logits_width(
        [window.tail for window in rows], [window.draft for window in rows]
    )
    read = len(rows) * (longest - head)
    filled = read - sum(window.length - head for window in rows)
    return (
        logits <= positions
        and len(rows) * longest <= TOKENS_AT_ONCE
        and filled <= _MOST_FILLED * read
    )
