"""A view of an answer for the model that looks for attacks: what is disguised reads plainly.

The view is only looked at. What of the answer is kept is decided by cuts of raw text, and the
view says which raw text each of its characters stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.disguises.encodings import encoded
from service.disguises.invisible import invisible
from service.disguises.leetspeak import leetspeak
from service.disguises.letters import look_alikes, styled_letters
from service.disguises.overlays import overlaid
from service.disguises.replacement import Replacement, Rule
from service.disguises.spacing import marked_out, spaced_out
from service.disguises.turned import backwards, rot13

_RULES: tuple[Rule, ...] = (
    invisible,
    overlaid,
    styled_letters,
    look_alikes,
    spaced_out,
    marked_out,
    encoded,
    leetspeak,
    rot13,
    backwards,
)
_LAYERS = 2
"""How often the rules run: a disguise may hide another one."""


@dataclass(frozen=True)
class DetectionView:
    """What the model reads instead of a raw answer.

    Attributes:
        text: the raw text itself, unless part of it is disguised.
        starts: for each character of `text`, where the raw text that it stands for begins.
        ends: for each character of `text`, where that raw text ends. All characters of a
            decoded run stand for the whole run; both sequences never decrease.
        raw_length: of the raw text, in code points.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    raw_length: int

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The raw range that a non-empty cut [start, end) of the view stands for.

        What the view does not show goes with a cut that it is in or next to.
        """
        raw_start, raw_end = self.starts[start], self.ends[end - 1]
        before = self.ends[start - 1] if start else 0
        after = self.starts[end] if end < len(self.text) else self.raw_length
        return min(raw_start, before), max(raw_end, after)


def detection_view(raw: str) -> DetectionView:
    """The view of `raw`, after each rule in turn."""
    length = len(raw)
    view = DetectionView(raw, range(length), range(1, length + 1), length)
    for _ in range(_LAYERS):
        before = view
        for rule in _RULES:
            if replacements := list(rule(view.text)):
                view = _applied(view, replacements)
        if view is before:
            break
    return view


def _applied(view: DetectionView, replacements: Sequence[Replacement]) -> DetectionView:
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for replacement in replacements:
        texts += view.text[done : replacement.start], replacement.text
        starts += view.starts[done : replacement.start]
        ends += view.ends[done : replacement.start]
        starts += [view.starts[replacement.start]] * len(replacement.text)
        ends += [view.ends[replacement.end - 1]] * len(replacement.text)
        done = replacement.end
    texts.append(view.text[done:])
    starts += view.starts[done:]
    ends += view.ends[done:]
    return DetectionView("".join(texts), tuple(starts), tuple(ends), view.raw_length)
