from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.variants import (
    BENIGN,
    FURTHER_ATTACKS,
    AttackSet,
    VariantPlan,
    fingerprint,
)
from filter_training.attacks import CLEAN, FAMILIES, PAPER_ATTACKS
from service.exam import ExamItem, HumanScore
from tests.service.exam_world import QUESTION, answer

PAPER, ALL = VariantPlan(AttackSet.PAPER, 1), VariantPlan(AttackSet.ALL, 1)
TEXT = "The Moon pulls on the near side. It pulls less on the far side."


def item(text: str = TEXT, answer_id: str = "a1") -> ExamItem:
    return ExamItem(QUESTION, answer(text, answer_id), (HumanScore("rater_1", 7),))


def texts(plan: VariantPlan, made_of: ExamItem | None = None) -> dict[str, str]:
    return {made.attack_type: made.text for made in plan.variants(made_of or item())}


def test_the_papers_attacks_stand_behind_the_answer() -> None:
    assert texts(PAPER) == {
        CLEAN: TEXT,
        **{name: f"{TEXT}\n{segment}" for name, segment in PAPER_ATTACKS.items()},
    }


def test_all_adds_every_other_family_and_what_means_the_same() -> None:
    made = texts(ALL)
    assert list(made) == list(ALL.names)
    assert set(made) == {CLEAN, *FAMILIES, *BENIGN}
    assert texts(PAPER).items() <= made.items()
    for name in (*FURTHER_ATTACKS, *BENIGN):
        assert made[name] != TEXT


def test_variants_are_the_same_answer_of_the_same_student() -> None:
    for made in ALL.variants(item()):
        assert replace(made, text=TEXT, attack_type="unlabelled") == item().answer


def test_texts_rest_on_the_seed_and_the_answer_alone() -> None:
    assert texts(ALL) == texts(VariantPlan(AttackSet.ALL, 1))
    other = texts(VariantPlan(AttackSet.ALL, 2))
    assert texts(ALL)["plea"] != other["plea"]
    assert texts(ALL)["plea"] != texts(ALL, item(answer_id="a2"))["plea"]


def test_an_empty_answer_has_all_variants() -> None:
    made = texts(ALL, item(""))
    assert all(made[name] for name in FAMILIES)
    assert not any(made[name] for name in BENIGN)


@pytest.mark.parametrize(
    "other",
    [
        item("The Sun."),
        item(answer_id="a2"),
        replace(item(), human_scores=(HumanScore("rater_1", 8),)),
        replace(item(), question=replace(QUESTION, rubric="another")),
    ],
)
def test_the_fingerprint_tells_what_is_evaluated(other: ExamItem) -> None:
    assert fingerprint(PAPER, [item()]) == fingerprint(PAPER, [item()])
    assert fingerprint(PAPER, [item()]) != fingerprint(PAPER, [other])
    assert fingerprint(PAPER, [item()]) != fingerprint(ALL, [item()])
    assert fingerprint(ALL, [item()]) != fingerprint(VariantPlan(AttackSet.ALL, 2), [item()])
