"""Ways to grade answers that may be attacked, to be compared with each other."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evaluation.pipelines.baseline import Baseline
from evaluation.pipelines.guarded import FreelyGuarded, Guarded
from evaluation.pipelines.hardened import Hardened
from evaluation.pipelines.hybrid import Hybrid
from evaluation.pipelines.pipeline import Pipeline
from evaluation.pipelines.sanitiser import GuardedAndSanitised, Sanitised

__all__ = ["PIPELINES", "Pipeline"]

PIPELINES: Mapping[str, Pipeline] = MappingProxyType(
    {
        pipeline.name: pipeline
        for pipeline in (
            Baseline(),
            Sanitised(),
            Hardened(),
            Guarded(),
            GuardedAndSanitised(),
            Hybrid(),
            FreelyGuarded(),
        )
    }
)
"""Name → pipeline."""
