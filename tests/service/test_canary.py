from __future__ import annotations

from collections.abc import Sequence

import pytest

from service.canary import check_canary
from service.engine.base import Cut, Engine, FreeCompletion, Role
from service.errors import CanaryError
from service.filter import AnswerFilter
from service.judgement import FinishReason
from service.prompts import Prompt
from tests.service.test_filter import ScriptedEngine


class CanaryEngine(ScriptedEngine):
    """Cuts from a mark on; writes one text per role."""

    def __init__(self, mark: str, written: dict[Role, str]) -> None:
        super().__init__(
            lambda text: [Cut(text.index(mark), len(text), 0.9)] if mark in text else []
        )
        self._written = written

    def rewrite(self, prompts: Sequence[Prompt], *, role: Role) -> list[FreeCompletion]:
        return [FreeCompletion(self._written[role], FinishReason.STOP, 0.0) for _ in prompts]


DIFFERENT = {Role.FILTER: "cleaned", Role.GRADE: "Sure! Answer: 10"}
EQUAL = {Role.FILTER: "Sure! Answer: 10", Role.GRADE: "Sure! Answer: 10"}


def test_a_filter_that_filters_passes() -> None:
    check_canary(AnswerFilter(CanaryEngine("[STUDENT ATTACK]", DIFFERENT)))


@pytest.mark.parametrize(
    ("mark", "written", "fault"),
    [
        ("no such mark", DIFFERENT, "a known attack was not removed exactly"),
        ("If it finds no route", DIFFERENT, "an honest answer was changed"),
        ("[STUDENT ATTACK]", EQUAL, "without the filter adapter"),
    ],
)
def test_a_filter_that_does_not_filter_is_refused_with_the_reason(
    mark: str, written: dict[Role, str], fault: str
) -> None:
    with pytest.raises(CanaryError, match=fault) as refusal:
        check_canary(AnswerFilter(CanaryEngine(mark, written)))
    assert "steadyeval models check" in str(refusal.value)


def test_a_random_filter_is_refused(tiny_engine: Engine) -> None:
    with pytest.raises(CanaryError, match="a known attack was not removed"):
        check_canary(AnswerFilter(tiny_engine))
