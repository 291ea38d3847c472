"""The guarded pipeline, with the filter as it is and with the paper's decoding."""

from __future__ import annotations

from evaluation.pipelines.pipeline import Pipeline
from service.engine.base import Engine
from service.errors import SettingsError
from service.filter import AnswerFilter
from service.judgement import Stage


class Guarded(Pipeline):
    """The pipeline of `steadyeval grade`: the filter cuts as its profile was taught to."""

    name = "copy"
    variant = Stage.FILTERED.pipeline_variant
    promise = "the profile's filter deletes first; it cannot write"

    def filter(self, engine: Engine) -> AnswerFilter:
        """The filter of the profile."""
        return AnswerFilter(engine)


class FreelyGuarded(Pipeline):
    """The filter writes the cleaned answer, as the paper's does."""

    name = "free"
    variant = "free"
    promise = "the filter writes the cleaned answer, and of the raw one stays what it wrote"

    def filter(self, engine: Engine) -> AnswerFilter:
        """The filter of the profile, decoding freely.

        Raises:
            SettingsError: it was taught to mark and cannot write.
        """
        try:
            return AnswerFilter(engine, decoding="free")
        except SettingsError as error:
            raise SettingsError(f"leave {self.name} out of --pipelines: {error}") from error
