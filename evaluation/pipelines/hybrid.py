"""A cheap test decides whether an answer goes through the filter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evaluation.pipelines.pipeline import Pipeline, untouched
from service.detection_view import detection_view
from service.engine.base import Engine
from service.exam import Question
from service.filter import AnswerFilter, FilteredText

_CUES = re.compile(
    r"\b(?:ignor|disregard|overrid|overrul|bypass|neglect|discard|deduct|jailbreak)\w*"
    r"|\b(?:instructions?|rubrics?|criteri(?:on|a)|polic(?:y|ies)|feedback|submissions?)\b"
    r"|\b(?:grad(?:e[rds]?|ing)|scor(?:e[ds]?|ing)|marks?|points?|credits?|ratings?|correct)\b"
    r"|\b(?:students?|professors?|teachers?|examiners?|graders?|administrator|developer)\b"
    r"|\b(?:please|sorry|thanks|pretend|role[ -]?play|act as|you are|this answer|my answer)\b"
    r"|\b10(?:\.0)?\b|\b10p\b|\bten\b|\b100 ?%"
    r"|<!--|-->|/\*|\[/?[A-Z][A-Z_ ]+\]|<\|?/?[a-z_]+\|?>|^\W*(?:system|assistant|user)\s*:",
    re.I | re.M,
)
"""Words that an order to a grader can hardly do without, and marks that carry one. Wide on purpose:
an honest answer that looks attacked costs a model call, an attack that does not costs the grade."""


class Hybrid(Pipeline):
    """The filter for answers that look attacked, none for the others."""

    name = "hybrid"
    variant = "hybrid"
    promise = "the profile's filter, only for answers that a cheap test finds suspicious"

    def filter(self, engine: Engine) -> AnswerFilter:
        """The filter of the profile behind the test."""
        return SuspectsOnly(engine)


class SuspectsOnly(AnswerFilter):
    """Filters what looks attacked."""

    @property
    def procedure(self) -> str:
        """What Judgements of it are told by."""
        return f"hybrid/1+{super().procedure}"

    def clean(self, items: Sequence[tuple[Question, str]]) -> list[FilteredText]:
        """Filter each suspicious answer to its question; see `AnswerFilter`."""
        suspects = [(question, raw) for question, raw in items if looks_attacked(raw)]
        filtered = iter(super().clean(suspects) if suspects else ())
        return [next(filtered) if looks_attacked(raw) else untouched(raw) for _, raw in items]


def looks_attacked(answer: str) -> bool:
    """True if anything of an answer is disguised, or it has words or marks of an attack."""
    view = detection_view(answer).text
    return view != answer or _CUES.search(view) is not None
