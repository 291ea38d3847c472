"""Copy-constrained decoding: the model chooses what of a text stays; it can write nothing else.

The raw text is its own draft: one pass over prompt and text tells, at every position, what the
model would write next. While that is the raw text, it stays. Elsewhere the model has three
options: to follow the raw text all the same, to stop (the rest is cut), or to jump to a later
place in the text that begins with what it wants to write (what lies between is cut). A model
that would rather write something that is nowhere in the text, such as a mended typo, follows.
Before white space nobody stops: whether the rest is an attack shows where its first word does.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from service.engine.base import CopyRequest, Cut
from service.engine.language_model import LanguageModel, Reading, logits_width
from service.engine.tokens import DraftToken
from service.errors import PromptTooLongError

_LEAVE_LOG = math.log(0.1)
"""The raw text is left only for what is at least this likely."""
_JUMP_ODDS_LOG = math.log(500)
"""A jump drops text in the middle: it must be so many times as likely as following."""
_PROBE_TOKENS = 8
_PROBE_CHARS = 160
_SURE_TOKENS = 4
"""So many tokens from the target of a jump on must each be what the model wants most."""
_CANDIDATES = 8
_MOST_PASSES = 24
"""Bounds the work on a text; after so many passes the model can only follow or stop."""
_OVERLAP = 8
"""Neighbouring windows share this fraction of a window."""
_SHORTEST_WINDOW = 64
_TOKENS_AT_ONCE = 16_384
_MOST_FILLED = 0.1
"""At most this fraction of what is read at once may be filling."""

# Where a kept part is likely to begin again: after a line, a sentence, a bracket, a tag, a fence.
_START = re.compile(r"(?:[\r\n]|[.!?:;][\"')\]]*|[\])}>]+|\*/|`{3,}|\")(\s*)")
_WINDOW_END = re.compile(r"\n|[.!?] ")


@dataclass(frozen=True)
class CopiedText:
    """What is cut from a text, and how many forward passes that took."""

    cuts: tuple[Cut, ...]
    passes: int


@dataclass(frozen=True)
class _Window:
    """A part of a raw text that fits the context with its own prompt: [start, end)."""

    start: int
    end: int
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


def copy_texts(
    model: LanguageModel, requests: Sequence[CopyRequest]
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
    for group in _groups(windows, model.positions_at_once):
        readings = model.read(
            group[0][1].head,
            [window.tail for _, window in group],
            [window.ids for _, window in group],
        )
        for (index, window), reading in zip(group, readings, strict=True):
            walk = _Walk(model, requests[index].raw[window.start : window.end], window.draft)
            for cut in walk.cuts(reading):
                start, end = window.start + cut.start, window.start + cut.end
                cuts[index].append(Cut(start, end, cut.confidence))
            passes[index] += walk.passes
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


def _plan(model: LanguageModel, request: CopyRequest) -> list[_Window] | PromptTooLongError:
    raw = request.raw
    draft = model.encoder.draft(raw, continues=True)
    if not draft:
        return []
    encoder, head = model.encoder, model.encoder.head_ids(request.prompt)
    whole = _Window(0, len(raw), head, encoder.tail_ids(request.prompt), draft)
    if _fits(model, whole):
        return [whole]
    frame = len(head) + len(encoder.tail_ids(request.prompt.with_answer("")))
    size = min((model.context - frame) // 2, model.positions_at_once) - 1
    while size >= _SHORTEST_WINDOW:
        windows = [
            _Window(
                start,
                end,
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


def _fits(model: LanguageModel, window: _Window) -> bool:
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


def _groups(
    windows: Sequence[tuple[int, _Window]], positions: int
) -> Iterator[list[tuple[int, _Window]]]:
    """Windows to read at once: of one head, and neither their logits nor memory too large.

    Windows of unlike lengths are read apart, or filling them up would cost more than it saves.
    """
    group: list[tuple[int, _Window]] = []
    for entry in windows:
        rows = [window for _, window in [*group, entry]]
        if group and not (rows[0].head == rows[-1].head and _fit_together(rows, positions)):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def _fit_together(rows: Sequence[_Window], positions: int) -> bool:
    head, longest = len(rows[0].head), max(window.length for window in rows)
    logits = len(rows) * logits_width(
        [window.tail for window in rows], [window.draft for window in rows]
    )
    read = len(rows) * (longest - head)
    filled = read - sum(window.length - head for window in rows)
    return (
        logits <= positions
        and len(rows) * longest <= _TOKENS_AT_ONCE
        and filled <= _MOST_FILLED * read
    )


class _Walk:
    """Goes through one raw text as the model wants it and notes what is left out."""

    def __init__(self, model: LanguageModel, raw: str, draft: Sequence[DraftToken]) -> None:
        self.passes = 1
        self._model = model
        self._raw = raw
        self._draft = draft

    def cuts(self, reading: Reading) -> Iterator[Cut]:
        """The parts of the text that the model leaves out, ascending."""
        tokens = self._draft
        k = 0
        while k < len(tokens):
            token, top = tokens[k], reading.top[k]
            k += 1
            if not token.cuttable or top == token.token_id:
                continue
            here, place = token.start, k - 1
            blank = self._raw[here : token.end].isspace()
            if not blank and self._stops(reading, place):
                yield Cut(here, len(self._raw), _confidence(reading, place, reading.end[place]))
                return
            piece = self._model.token_text(top)
            if not piece or self.passes >= _MOST_PASSES:
                continue
            if self._raw.startswith(piece, here):
                # The same text, split in another way: a cut may come inside the raw token.
                if len(piece) < token.end - here:
                    tokens = self._draft_from(here + len(piece))
                    reading = self._read_on(reading, place, top, tokens)
                    k = 0
                continue
            odds = reading.top_log[place] - reading.actual[place]
            if reading.top_log[place] < _LEAVE_LOG or odds < _JUMP_ODDS_LOG:
                continue
            target = self._target(reading, place, tokens)
            if target is None:
                continue
            yield Cut(here, target, _confidence(reading, place, reading.top_log[place]))
            first, *tokens = self._draft_from(target)
            reading = self._read_on(reading, place, first.token_id, tokens)
            k = 0

    def _stops(self, reading: Reading, place: int) -> bool:
        """True if the model would rather stop than follow, and stopping is likely at all."""
        end = reading.end[place]
        likely = reading.top[place] in self._model.end_ids or end >= _LEAVE_LOG
        return likely and end > reading.actual[place]

    def _target(self, reading: Reading, place: int, tokens: Sequence[DraftToken]) -> int | None:
        """The later position that begins with what the model wants and that it agrees with."""
        top = reading.top[place]
        here = tokens[place].start
        starts, others = self._places.get(top, ([], []))
        candidates = [
            *starts[bisect_right(starts, here) :][:_CANDIDATES],
            *others[bisect_right(others, here) :][:_CANDIDATES],
        ][:_CANDIDATES]
        probes = {offset: self._probe(offset) for offset in candidates}
        probes = {offset: probe for offset, probe in probes.items() if probe[0] == top}
        if not probes:
            return None
        self.passes += 1
        readings = self._model.read_on(
            reading, place, top, [probe[1:] for probe in probes.values()]
        )
        best, longest = None, -1
        for (offset, probe), ahead in zip(probes.items(), readings, strict=True):
            follows = probe[1:]
            agreed = next(
                (n for n, token in enumerate(follows) if ahead.top[n] != token), len(follows)
            )
            sure = agreed + 1 >= _SURE_TOKENS
            if agreed > longest and (sure or self._leaves(ahead.top[agreed], offset)):
                best, longest = offset, agreed
        return best

    def _leaves(self, top: int, offset: int) -> bool:
        """True if what the model wants soon after a jump is to stop or to jump on."""
        starts, _ = self._places.get(top, ([], []))
        return top in self._model.end_ids or any(start > offset for start in starts)

    def _probe(self, offset: int) -> list[int]:
        text = self._raw[offset : offset + _PROBE_CHARS]
        draft = self._model.encoder.draft(text, continues=True)
        return [token.token_id for token in draft[:_PROBE_TOKENS]]

    def _draft_from(self, offset: int) -> list[DraftToken]:
        return [
            DraftToken(token.token_id, token.start + offset, token.end + offset, token.cuttable)
            for token in self._model.encoder.draft(self._raw[offset:], continues=True)
        ]

    def _read_on(
        self, reading: Reading, place: int, accepted: int, tokens: Sequence[DraftToken]
    ) -> Reading:
        self.passes += 1
        ids = [token.token_id for token in tokens]
        return self._model.read_on(reading, place, accepted, [ids])[0]

    @cached_property
    def _places(self) -> dict[int, tuple[list[int], list[int]]]:
        """For each token the offsets where the text could go on with it: starts, other places."""
        tokens = {token.start: token.token_id for token in self._draft if token.cuttable}
        starts: set[int] = set()
        for match in _START.finditer(self._raw):
            starts.update(match.span(1))
        starts.discard(len(self._raw))
        for offset in starts - tokens.keys():
            if probe := self._probe(offset):
                tokens[offset] = probe[0]
        places: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for offset in sorted(tokens):
            places[tokens[offset]][offset not in starts].append(offset)
        return places


def _confidence(reading: Reading, place: int, leaving: float) -> float:
    """Probability of leaving the raw text, where that and following it are the only options."""
    return 1 / (1 + math.exp(min(reading.actual[place] - leaving, 700.0)))
