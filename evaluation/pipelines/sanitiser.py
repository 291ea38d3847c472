"""What can be done without a model: what is invisible or written in disguise is deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.pipelines.pipeline import ModelFreeFilter, Pipeline, untouched
from evaluation.pipelines.sequence import Sequential, one_after_another
from service.detection_view import DetectionView, detection_view
from service.engine.base import Cut, Engine
from service.exam import Question
from service.filter import MAX_ROUNDS, AnswerFilter, FilteredText, with_separators
from service.judgement import FinishReason, RemovedSpan


class Sanitised(Pipeline):
    """The deterministic part of the filter alone."""

    name = "sanitiser"
    variant = "sanitiser"
    promise = "invisible characters and disguised words are deleted; no model filters"

    def filter(self, engine: Engine) -> AnswerFilter:
        """The sanitiser."""
        return Sanitiser(engine)


class GuardedAndSanitised(Pipeline):
    """The sanitiser, and the profile's filter behind it."""

    name = "copy+sanitiser"
    variant = "copy+sanitiser"
    promise = "the sanitiser first, then the profile's filter"

    def filter(self, engine: Engine) -> AnswerFilter:
        """Both, one after the other."""
        return Sequential(Sanitiser(engine), AnswerFilter(engine))


class Sanitiser(ModelFreeFilter):
    """Deletes what nobody sees, and the words that `detection_view` has to decode."""

    @property
    def procedure(self) -> str:
        """What Judgements of it are told by."""
        return "sanitiser/1"

    def clean(self, items: Sequence[tuple[Question, str]]) -> list[FilteredText]:
        """Delete until there is nothing left to delete, or as often as the model filter would."""
        return [_sanitised(raw) for _, raw in items]


def _sanitised(raw: str) -> FilteredText:
    result = untouched(raw)
    for _ in range(MAX_ROUNDS):
        step = _deleted(result.cleaned)
        if not step.removed:
            return result
        result = one_after_another(result, step, raw)
    return result


def _deleted(raw: str) -> FilteredText:
    """One round; what it leaves may hold a disguise that it hid."""
    cuts = with_separators(raw, list(_disguised(raw, detection_view(raw))))
    borders = [0, *(border for cut in cuts for border in (cut.start, cut.end)), len(raw)]
    kept = "".join(raw[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True))
    return FilteredText(
        cleaned=kept,
        removed=tuple(RemovedSpan(cut.start, cut.end, raw[cut.start : cut.end], 1) for cut in cuts),
        raw_output=kept,
        finish_reason=FinishReason.STOP,
        stable=not cuts,
        forward_passes=0,
        latency_ms=0.0,
    )


def _disguised(raw: str, view: DetectionView) -> Iterator[Cut]:
    """What the view hides, exactly, and what it decodes, with the words that it is a part of."""
    done = 0
    for text, start, end in zip(view.text, view.starts, view.ends, strict=True):
        if done < start:
            yield Cut(done, start, 1.0)
        done = max(done, end)
        if raw[start:end] != text:
            yield _with_words(raw, start, end)
    if done < len(raw):
        yield Cut(done, len(raw), 1.0)


def _with_words(raw: str, start: int, end: int) -> Cut:
    # An invisible text is no part of the visible word that it hangs on.
    if raw[start:end].isprintable():
        while start and not raw[start - 1].isspace():
            start -= 1
        while end < len(raw) and not raw[end].isspace():
            end += 1
    return Cut(start, end, 1.0)
