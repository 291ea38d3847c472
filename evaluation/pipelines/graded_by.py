"""A pipeline whose grader is that of another profile, such as one taught on attacked answers."""

from __future__ import annotations

from evaluation.pipelines.pipeline import Pipeline
from service.engine.base import Engine
from service.filter import AnswerFilter
from service.grader import Grader


class GradedBy(Pipeline):
    """`pipeline@profile`: filters as the pipeline does, and grades with the profile's grader."""

    def __init__(self, pipeline: Pipeline, profile: str) -> None:
        self._pipeline = pipeline
        self.name = f"{pipeline.name}@{profile}"
        self.variant = f"{pipeline.variant}@{profile}"
        self.promise = f"{pipeline.promise}; graded by the profile {profile}"
        self.grade_profile = profile

    def filter(self, engine: Engine) -> AnswerFilter:
        """The filter of the pipeline."""
        return self._pipeline.filter(engine)

    def grader(self, engine: Engine) -> Grader:
        """The grader of the pipeline, on the engine of the profile."""
        return self._pipeline.grader(engine)
