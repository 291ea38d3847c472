"""SteadyEval: an exam grader that an answer cannot talk into a better grade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.exam import Answer, Criterion, Question, ScoreScale

if TYPE_CHECKING:
    from service.pipeline import GradedAnswer, GradingPipeline

__all__ = ["Answer", "Criterion", "GradedAnswer", "GradingPipeline", "Question", "ScoreScale"]


def __getattr__(name: str) -> Any:
    # The pipeline is imported when it is asked for: `import service.exam` must stay light.
    if name in ("GradedAnswer", "GradingPipeline"):
        from service import pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
