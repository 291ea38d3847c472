"""The models of an evaluation: of one profile, or of one that filters and some that grade."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.pipelines.pipeline import ModelFreeFilter, Pipeline
from service.canary import check_canary
from service.engine import factory
from service.engine.base import Engine, Role
from service.filter import AnswerFilter
from service.settings import Settings
from service.stages import Models


@dataclass(frozen=True)
class Engines:
    """What filters and what grades; one engine for each profile.

    Attributes:
        filtering: the engine in the filter's role.
        grading: the engine in the grader's role.
        profiles: role → name of its profile.
        graders: profile → engine, of pipelines that have a grader of their own.
    """

    filtering: Engine
    grading: Engine
    profiles: dict[str, str]
    graders: Mapping[str, Engine]

    @property
    def fingerprints(self) -> dict[str, str]:
        """Role, or role@profile → what decides its outputs."""
        return {
            Role.FILTER.value: self.filtering.fingerprint(Role.FILTER),
            Role.GRADE.value: self.grading.fingerprint(Role.GRADE),
            **{
                f"{Role.GRADE}@{profile}": engine.fingerprint(Role.GRADE)
                for profile, engine in self.graders.items()
            },
        }

    def models(self, pipeline: Pipeline) -> Models:
        """The filter and the grader of a pipeline.

        Raises:
            SettingsError: see `Pipeline.models`.
        """
        own = pipeline.grade_profile
        return pipeline.models(self.filtering, self.graders[own] if own else self.grading)


@contextmanager
def open_engines(
    settings: Settings, pipelines: Iterable[Pipeline], *, filters: str, grades: str
) -> Iterator[Engines]:
    """The engines of two profiles, which may be the same, and of the pipelines' own graders.

    Args:
        settings: how models are run; its own profile does not count.
        pipelines: what is to be run.
        filters: profile of the filter.
        grades: profile of the grader.

    Raises:
        SettingsError: see `open_engine`.
        ModelError: see `open_engine`.
        EngineError: see `open_engine`.
    """
    own = list(dict.fromkeys(one.grade_profile for one in pipelines if one.grade_profile))
    with ExitStack() as stack:
        engines = {
            profile: stack.enter_context(
                closing(factory.open_engine(settings.model_copy(update={"profile": profile})))
            )
            for profile in dict.fromkeys((filters, grades, *own))
        }
        names = {Role.FILTER.value: Path(filters).name, Role.GRADE.value: Path(grades).name}
        graders = {profile: engines[profile] for profile in own}
        yield Engines(engines[filters], engines[grades], names, graders)


def check_filters(models: Iterable[Models]) -> None:
    """Prove that each model that filters for a pipeline does filter.

    Raises:
        CanaryError: one does not.
    """
    engines = [one.filter.engine for one in models if not isinstance(one.filter, ModelFreeFilter)]
    for engine in dict.fromkeys(engines):
        check_canary(AnswerFilter(engine))
