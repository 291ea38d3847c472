"""The answer filter: it may only delete, and every deleted span is known exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from service.detection_view import DetectionView, detection_view
from service.disguises.invisible import invisible_cuts
from service.engine.base import CopyCompletion, CopyRequest, Cut, Engine, FreeCompletion, Role
from service.errors import SettingsError
from service.exam import Question
from service.judgement import FinishReason, RemovedSpan
from service.prompts import Prompt, filter_prompt

VERSION = "3"
"""Raised by every change after which an answer may be filtered otherwise by the same model.

That is: the view, invisible runs, rounds, separators, alignment, the limits and thresholds of
copying and marking, and the most new tokens of a rewrite.
"""

MAX_ROUNDS = 3
"""Deleting a decoy may join the halves of a split attack, so what changed is filtered again."""

_WORD = re.compile(r"\w+|[^\w\s]")
LINE_BREAK = re.compile(r"[\n\r]")
"""What makes a separator the one that stays, and places an attack on a line of its own."""


@dataclass(frozen=True)
class FilteredText:
    """What the filter made of an answer.

    Attributes:
        cleaned: the raw answer without the removed spans.
        removed: ascending, disjoint, in code points of the raw answer.
        raw_output: what the model kept of the view (copy) or wrote (free) in the first round.
        finish_reason: `length` where free decoding was cut off, in whichever round.
        stable: False if the last round still changed something.
        forward_passes: model calls of all rounds; 0 where the engine does not tell.
        latency_ms: wall-clock time of the batches that the answer was part of.
    """

    cleaned: str
    removed: tuple[RemovedSpan, ...]
    raw_output: str
    finish_reason: FinishReason
    stable: bool
    forward_passes: int
    latency_ms: float


@dataclass(frozen=True)
class _Round:
    """What one model call said about one text.

    Attributes:
        cuts: of the text; ascending, and they may overlap.
        output: of the text's view.
    """

    cuts: Sequence[Cut]
    output: str
    finish_reason: FinishReason
    forward_passes: int
    latency_ms: float


@dataclass
class _Progress:
    """An answer on its way through the rounds."""

    question: Question
    raw: str
    rounds: list[_Round] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    """Offsets of the raw answer that are still there."""
    confidence: dict[int, float] = field(default_factory=dict)
    """For each removed offset, the confidence of the cut that took it."""
    stable: bool = False

    def __post_init__(self) -> None:
        self.kept = list(range(len(self.raw)))
        self.stable = not self.raw

    @property
    def text(self) -> str:
        return "".join(self.raw[offset] for offset in self.kept)

    def apply(self, made: _Round) -> None:
        self.rounds.append(made)
        text = self.text
        cuts = with_separators(text, [*made.cuts, *invisible_cuts(text)])
        for cut in reversed(cuts):
            for offset in self.kept[cut.start : cut.end]:
                self.confidence[offset] = cut.confidence
            del self.kept[cut.start : cut.end]
        self.stable = not cuts or not self.kept

    def result(self) -> FilteredText:
        cut_off = any(made.finish_reason is FinishReason.LENGTH for made in self.rounds)
        return FilteredText(
            cleaned=self.text,
            removed=tuple(self._removed()),
            raw_output=self.rounds[0].output if self.rounds else "",
            finish_reason=FinishReason.LENGTH if cut_off else FinishReason.STOP,
            stable=self.stable,
            forward_passes=sum(made.forward_passes for made in self.rounds),
            latency_ms=sum(made.latency_ms for made in self.rounds),
        )

    def _removed(self) -> Iterator[RemovedSpan]:
        borders = [-1, *self.kept, len(self.raw)]
        for before, after in pairwise(borders):
            start = before + 1
            if start < after:
                confidence = max(self.confidence[offset] for offset in range(start, after))
                yield RemovedSpan(start, after, self.raw[start:after], confidence)


class AnswerFilter:
    """Removes from answers what tries to control the grader.

    The model reads a view of the answer in which disguised words are plain. Its cuts are taken
    to the raw text that they stand for, so a view can never change what stays.

    Args:
        engine: the model with its filter adapter.
        decoding: `copy` lets the model choose what stays, by copying or by marking as it was
            taught; `free` lets it write, and keeps of the raw answer what it wrote. An engine
            that cannot cut always writes.

    Raises:
        SettingsError: a filter that was taught to mark shall write.
    """

    def __init__(self, engine: Engine, *, decoding: Literal["copy", "free"] = "copy") -> None:
        if decoding == "free" and engine.cuts_by == "mark":
            raise SettingsError(
                "the filter of this profile marks what is cut and cannot write; set "
                'STEADYEVAL_DECODING=copy, or use a profile with filter_decoding = "copy"'
            )
        self.engine = engine
        self.decoding: Literal["copy", "mark", "free"] = (
            engine.cuts_by if engine.cuts_by and decoding == "copy" else "free"
        )

    @property
    def procedure(self) -> str:
        """How answers are filtered, with the version of what decides it beside the model."""
        return f"{self.decoding}/{VERSION}"

    def prompt(self, question: Question, answer: str) -> Prompt:
        """What the model is asked about `answer` in the first round."""
        return filter_prompt(question, detection_view(answer).text)

    def clean(self, items: Sequence[tuple[Question, str]]) -> list[FilteredText]:
        """Filter each answer to its question.

        Raises:
            PromptTooLongError: question and rubric do not fit the model's context.
            EngineError: the model call failed.
        """
        answers = [_Progress(question, raw) for question, raw in items]
        run: Callable[[Sequence[_Progress]], Iterator[_Round]] = (
            self._rewrite if self.decoding == "free" else self._copy
        )
        for _ in range(MAX_ROUNDS):
            changing = [answer for answer in answers if not answer.stable]
            if not changing:
                break
            for answer, made in zip(changing, list(run(changing)), strict=True):
                answer.apply(made)
        return [answer.result() for answer in answers]

    def _copy(self, answers: Sequence[_Progress]) -> Iterator[_Round]:
        views = [detection_view(answer.text) for answer in answers]
        requests = [
            CopyRequest(filter_prompt(answer.question, view.text), view.text)
            for answer, view in zip(answers, views, strict=True)
        ]
        for view, copied in zip(views, self.engine.copy(requests), strict=True):
            yield _copied(view, copied)

    def _rewrite(self, answers: Sequence[_Progress]) -> Iterator[_Round]:
        views = [detection_view(answer.text) for answer in answers]
        prompts = [
            filter_prompt(answer.question, view.text)
            for answer, view in zip(answers, views, strict=True)
        ]
        written = self.engine.rewrite(prompts, role=Role.FILTER)
        for view, completion in zip(views, written, strict=True):
            yield _written(view, completion)


def _copied(view: DetectionView, copied: CopyCompletion) -> _Round:
    text = view.text
    borders = [0, *(border for cut in copied.cuts for border in (cut.start, cut.end)), len(text)]
    kept = "".join(text[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True))
    cuts = _raw_cuts(view, copied.cuts)
    return _Round(cuts, kept, FinishReason.STOP, copied.forward_passes, copied.latency_ms)


def _written(view: DetectionView, written: FreeCompletion) -> _Round:
    # The model wrote what it read, so the view is what its words are matched with.
    cuts = _raw_cuts(view, align(view.text, written.text))
    return _Round(cuts, written.text, written.finish_reason, 0, written.latency_ms)


def _raw_cuts(view: DetectionView, cuts: Sequence[Cut]) -> list[Cut]:
    return [Cut(*view.to_raw(cut.start, cut.end), cut.confidence) for cut in cuts]


def align(raw: str, written: str) -> list[Cut]:
    """What of `raw` is not in `written`: words and marks are matched in order.

    Nothing that was written but is not in the raw text has any effect. A written text carries
    no probability, so the confidence of its cuts is 1.
    """
    words = list(_WORD.finditer(raw))
    matcher = SequenceMatcher(
        None, [word[0] for word in words], _WORD.findall(written), autojunk=False
    )
    cuts: list[Cut] = []
    done = 0
    for block in matcher.get_matching_blocks():
        if done < block.a:
            cuts.append(Cut(words[done].start(), words[block.a - 1].end(), 1.0))
        done = block.a + block.size
    return cuts


def with_separators(text: str, cuts: Sequence[Cut]) -> list[Cut]:
    """Cuts that take their separators with them, so that what stays reads as if nothing was.

    A cut at the end takes the white space before it, a cut at the start the white space after
    it. In the middle one separator stays: the one with a line break if only one has it, else
    the one before. White space alone is never cut.
    """
    widened: list[Cut] = []
    for cut in _joined(text, cuts):
        left = len(text[: cut.start].rstrip())
        right = len(text) - len(text[cut.end :].lstrip())
        if right == len(text):
            widened.append(Cut(left, right, cut.confidence))
        elif left == 0:
            widened.append(Cut(0, right, cut.confidence))
        elif left == cut.start or _breaks_only(text[cut.end : right], text[left : cut.start]):
            widened.append(Cut(left, cut.end, cut.confidence))
        else:
            widened.append(Cut(cut.start, right, cut.confidence))
    return widened


def _joined(text: str, cuts: Sequence[Cut]) -> list[Cut]:
    """Ascending cuts without the white space around them.

    Those that overlap or have only white space between them are one.
    """
    joined: list[Cut] = []
    for cut in sorted(cuts, key=lambda cut: cut.start):
        inside = text[cut.start : cut.end]
        start = cut.end - len(inside.lstrip())
        end = cut.start + len(inside.rstrip())
        if start >= end:
            continue
        if joined and not text[joined[-1].end : start].strip():
            last = joined.pop()
            confidence = max(last.confidence, cut.confidence)
            joined.append(Cut(last.start, max(last.end, end), confidence))
        else:
            joined.append(Cut(start, end, cut.confidence))
    return joined


def _breaks_only(one: str, other: str) -> bool:
    """True if the first white space has a line break and the second has none."""
    return bool(LINE_BREAK.search(one)) and not LINE_BREAK.search(other)
