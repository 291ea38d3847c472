"""What a pipeline is: which filter stands before which grader."""

from __future__ import annotations

from collections.abc import Sequence

from service.engine.base import Engine
from service.exam import Question
from service.filter import AnswerFilter, FilteredText
from service.grader import Grader
from service.judgement import FinishReason
from service.prompts import Prompt
from service.stages import Models


class Pipeline:
    """A way to grade answers that may be attacked.

    A pipeline overrides what it does otherwise than a bare grader.

    Attributes:
        name: what `--pipelines` calls it.
        variant: what tables and scores call it: the paper's name where the paper has it.
        promise: one line, which docs/evaluation.md has too.
        grade_profile: profile whose grader it has; None for the grader of the run.
    """

    name: str
    variant: str
    promise: str
    grade_profile: str | None = None

    def filter(self, engine: Engine) -> AnswerFilter:
        """What an answer goes through before it is graded."""
        return NoFilter(engine)

    def grader(self, engine: Engine) -> Grader:
        """What grades the answer that the filter leaves."""
        return Grader(engine)

    def models(self, engine: Engine, grading: Engine | None = None) -> Models:
        """Filter and grader on the engine of the profile.

        Args:
            engine: of the profile.
            grading: what grades instead, such as the engine of `grade_profile`.

        Raises:
            SettingsError: the profile's model cannot do what the pipeline asks of it.
        """
        return Models(engine, self.grader(grading or engine), self.filter(engine))


class ModelFreeFilter(AnswerFilter):
    """A filter that asks no model; a subclass says which text it reads and what it removes."""

    def prompt(self, question: Question, answer: str) -> Prompt:  # noqa: ARG002
        """All that such a filter reads: the answer."""
        return Prompt("", answer)


class NoFilter(ModelFreeFilter):
    """Leaves every answer as it is."""

    @property
    def procedure(self) -> str:
        """What Judgements of it are told by."""
        return "none/1"

    def clean(self, items: Sequence[tuple[Question, str]]) -> list[FilteredText]:
        """The answers."""
        return [untouched(raw) for _, raw in items]


def untouched(raw: str) -> FilteredText:
    """An answer of which nothing was removed, and that no model has seen."""
    return FilteredText(
        cleaned=raw,
        removed=(),
        raw_output=raw,
        finish_reason=FinishReason.STOP,
        stable=True,
        forward_passes=0,
        latency_ms=0.0,
    )
