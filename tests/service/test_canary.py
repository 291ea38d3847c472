from __future__ import annotations

import pytest

from service.canary import check_canary
from service.engine.base import Cut, Engine
from service.errors import CanaryError
from service.filter import AnswerFilter
from service.prompts import Prompt
from tests.service.test_filter import ScriptedEngine


class CanaryEngine(ScriptedEngine):
    """Cuts from a mark on; has a filter adapter at work or not."""

    def __init__(self, mark: str, *, is_base: bool = False) -> None:
        super().__init__(
            lambda text: [Cut(text.index(mark), len(text), 0.9)] if mark in text else []
        )
        self._is_base = is_base
        self.compared: list[Prompt] = []

    def filter_is_base(self, prompt: Prompt) -> bool:
        self.compared.append(prompt)
        return self._is_base


def test_a_filter_that_filters_passes() -> None:
    engine = CanaryEngine("[STUDENT ATTACK]")
    check_canary(AnswerFilter(engine))
    assert ["[STUDENT ATTACK]" in prompt.tail for prompt in engine.compared] == [True]


@pytest.mark.parametrize(
    ("mark", "is_base", "fault"),
    [
        ("no such mark", False, "a known attack was not removed exactly"),
        ("If it finds no route", False, "an honest answer was changed"),
        ("[STUDENT ATTACK]", True, "the base model without any adapter"),
    ],
)
def test_a_filter_that_does_not_filter_is_refused_with_the_reason(
    mark: str, is_base: bool, fault: str
) -> None:
    with pytest.raises(CanaryError, match=fault) as refusal:
        check_canary(AnswerFilter(CanaryEngine(mark, is_base=is_base)))
    assert "steadyeval models check" in str(refusal.value)


def test_a_random_filter_is_refused(tiny_engine: Engine) -> None:
    with pytest.raises(CanaryError, match="a known attack was not removed"):
        check_canary(AnswerFilter(tiny_engine))
