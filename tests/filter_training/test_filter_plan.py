from __future__ import annotations

from typing import Any

import pytest

from filter_training.attacks import FAMILIES, PAPER_ATTACKS
from filter_training.filter_plan import FilterPlan
from service.errors import SettingsError


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"variants": 4}, "5 variants"),
        ({"leave_out": ("stealth",)}, "none can be left out"),
        ({"families": "all", "leave_out": ("no_such_family",)}, "no_such_family"),
        ({"families": "all", "leave_out": tuple(FAMILIES)}, "no family"),
        ({"families": "all", "variants": 1}, "one attacked"),
        ({"trap_share": 0.6, "benign_share": 0.5}, "at most 1"),
        ({"trap_share": -0.1}, "0 or more"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(values: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        FilterPlan(**values)


def test_what_is_left_out_is_left_out_of_the_papers_texts_too() -> None:
    plan = FilterPlan(families="all", leave_out=("stealth", "plea"))
    assert set(plan.drawn_families) == FAMILIES.keys() - {"stealth", "plea"}
    assert set(plan.paper_classes) == PAPER_ATTACKS.keys() - {"stealth"}
