"""Filters one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from service.exam import Question
from service.filter import AnswerFilter, FilteredText
from service.judgement import FinishReason, RemovedSpan
from service.prompts import Prompt


class Sequential(AnswerFilter):
    """The second filter reads what the first one leaves.

    Args:
        first: a filter that asks no model.
        second: any filter.
    """

    def __init__(self, first: AnswerFilter, second: AnswerFilter) -> None:
        super().__init__(second.engine)
        self._first = first
        self._second = second

    @property
    def procedure(self) -> str:
        """What Judgements of it are told by."""
        return f"{self._first.procedure}+{self._second.procedure}"

    def prompt(self, question: Question, answer: str) -> Prompt:
        """What the second filter's model is asked."""
        [left] = self._first.clean([(question, answer)])
        return self._second.prompt(question, left.cleaned)

    def clean(self, items: Sequence[tuple[Question, str]]) -> list[FilteredText]:
        """Filter each answer to its question; see `AnswerFilter`."""
        first = self._first.clean(items)
        second = self._second.clean(
            [(question, text.cleaned) for (question, _), text in zip(items, first, strict=True)]
        )
        return [
            one_after_another(before, after, raw)
            for before, after, (_, raw) in zip(first, second, items, strict=True)
        ]


def one_after_another(first: FilteredText, second: FilteredText, raw: str) -> FilteredText:
    """What became of `raw`, where `second` is what became of the text that `first` left."""
    cut_off = FinishReason.LENGTH in (first.finish_reason, second.finish_reason)
    return FilteredText(
        cleaned=second.cleaned,
        removed=tuple(_removed(first.removed, second.removed, raw)),
        raw_output=second.raw_output,
        finish_reason=FinishReason.LENGTH if cut_off else FinishReason.STOP,
        stable=second.stable,
        forward_passes=first.forward_passes + second.forward_passes,
        latency_ms=first.latency_ms + second.latency_ms,
    )


def _removed(
    first: Sequence[RemovedSpan], second: Sequence[RemovedSpan], raw: str
) -> Iterator[RemovedSpan]:
    """The spans of both in offsets of `raw`; those that touch are one."""
    confidence = {offset: span.confidence for span in first for offset in _offsets(span)}
    left = [offset for offset in range(len(raw)) if offset not in confidence]
    confidence |= {left[place]: span.confidence for span in second for place in _offsets(span)}
    kept = [offset for offset in range(len(raw)) if offset not in confidence]
    for before, after in pairwise([-1, *kept, len(raw)]):
        start = before + 1
        if start < after:
            highest = max(confidence[offset] for offset in range(start, after))
            yield RemovedSpan(start, after, raw[start:after], highest)


def _offsets(span: RemovedSpan) -> range:
    return range(span.start, span.end)
