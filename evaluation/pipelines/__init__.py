"""Ways to grade answers that may be attacked, to be compared with each other."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evaluation.pipelines.baseline import Baseline
from evaluation.pipelines.graded_by import GradedBy
from evaluation.pipelines.guarded import FreelyGuarded, Guarded
from evaluation.pipelines.hardened import Encoded, Hardened
from evaluation.pipelines.hybrid import Hybrid
from evaluation.pipelines.pipeline import Pipeline
from evaluation.pipelines.sanitiser import GuardedAndSanitised, Sanitised
from service.errors import InputError

__all__ = ["PIPELINES", "Pipeline", "pipeline_named", "pipelines_named"]

PIPELINES: Mapping[str, Pipeline] = MappingProxyType(
    {
        pipeline.name: pipeline
        for pipeline in (
            Baseline(),
            Sanitised(),
            Hardened(),
            Encoded(),
            Guarded(),
            GuardedAndSanitised(),
            Hybrid(),
            FreelyGuarded(),
        )
    }
)
"""Name → pipeline."""


def pipeline_named(name: str) -> Pipeline:
    """The pipeline of that name, or for `name@profile` that pipeline with the profile's grader.

    Raises:
        InputError: there is no such pipeline. Whether there is such a profile is not looked at.
    """
    own, at, profile = name.partition("@")
    if own not in PIPELINES or bool(at) != bool(profile):
        raise InputError(
            f"no pipeline {name!r}; there are {', '.join(PIPELINES)}, and each of them with "
            "@PROFILE behind its name for the grader of another profile"
        )
    return GradedBy(PIPELINES[own], profile) if profile else PIPELINES[own]


def pipelines_named(names: str) -> dict[str, Pipeline]:
    """Name → pipeline, of names with commas between.

    Raises:
        InputError: there is no such pipeline.
    """
    return {name: pipeline_named(name) for name in names.split(",")}
