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
from functools import cached_property

from service.engine.base import CopyRequest, Cut
from service.engine.language_model import LanguageModel, Reading
from service.engine.tokens import DraftToken
from service.engine.windows import CopiedText, Window, cut_texts
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

# Where a kept part is likely to begin again: after a line, a sentence, a bracket, a tag, a fence.
_START = re.compile(r"(?:[\r\n]|[.!?:;][\"')\]]*|[\])}>]+|\*/|`{3,}|\")(\s*)")


def copy_texts(
    model: LanguageModel, requests: Sequence[CopyRequest]
) -> list[CopiedText | PromptTooLongError]:
    """Let the model copy each raw text and leave out what does not belong there."""

    def read(windows: Sequence[Window]) -> Iterator[CopiedText]:
        readings = model.read(
            windows[0].head,
            [window.tail for window in windows],
            [window.ids for window in windows],
        )
        for window, reading in zip(windows, readings, strict=True):
            walk = _Walk(model, window.text, window.draft)
            cuts = tuple(walk.cuts(reading))
            yield CopiedText(cuts, walk.passes)

    return cut_texts(model, requests, read)


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
