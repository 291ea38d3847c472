"""No guard at all: what every other pipeline is compared with."""

from __future__ import annotations

from evaluation.pipelines.pipeline import Pipeline
from service.judgement import Stage


class Baseline(Pipeline):
    """The grader reads the raw answer."""

    name = "none"
    variant = Stage.BASELINE.pipeline_variant
    promise = "the grader reads the raw answer"
