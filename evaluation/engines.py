"""The models of an evaluation: of one profile, or of one that filters and one that grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.pipelines.pipeline import ModelFreeFilter
from service.canary import check_canary
from service.engine import factory
from service.engine.base import Engine, Role
from service.filter import AnswerFilter
from service.settings import Settings
from service.stages import Models


@dataclass(frozen=True)
class Engines:
    """What filters and what grades; one engine where both are of one profile.

    Attributes:
        filtering: the engine in the filter's role.
        grading: the engine in the grader's role.
        profiles: role → name of its profile.
    """

    filtering: Engine
    grading: Engine
    profiles: dict[str, str]

    @property
    def fingerprints(self) -> dict[str, str]:
        """Role → what decides its outputs."""
        return {
            Role.FILTER.value: self.filtering.fingerprint(Role.FILTER),
            Role.GRADE.value: self.grading.fingerprint(Role.GRADE),
        }


@contextmanager
def open_engines(settings: Settings, *, filters: str, grades: str) -> Iterator[Engines]:
    """The engines of two profiles, which may be the same.

    Args:
        settings: how models are run; its own profile does not count.
        filters: profile of the filter.
        grades: profile of the grader.

    Raises:
        SettingsError: see `open_engine`.
        ModelError: see `open_engine`.
        EngineError: see `open_engine`.
    """
    with ExitStack() as stack:
        engines = {
            profile: stack.enter_context(
                closing(factory.open_engine(settings.model_copy(update={"profile": profile})))
            )
            for profile in dict.fromkeys((filters, grades))
        }
        names = {Role.FILTER.value: Path(filters).name, Role.GRADE.value: Path(grades).name}
        yield Engines(engines[filters], engines[grades], names)


def check_filters(models: Iterable[Models]) -> None:
    """Prove that each model that filters for a pipeline does filter.

    Raises:
        CanaryError: one does not.
    """
    engines = [one.filter.engine for one in models if not isinstance(one.filter, ModelFreeFilter)]
    for engine in dict.fromkeys(engines):
        check_canary(AnswerFilter(engine))
