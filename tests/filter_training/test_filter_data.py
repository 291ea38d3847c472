from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from filter_training.attacks import CLEAN, FAMILIES, PAPER_ATTACKS, attacked, make_attack
from filter_training.dataset import Source, Variant
from filter_training.filter_data import filter_dataset
from filter_training.filter_plan import FilterPlan
from filter_training.marked import Attack
from service.errors import SettingsError
from service.exam import ExamItem
from service.prompts import filter_prompt, quote
from tests.filter_training.world import items

MIXED = FilterPlan(
    variants=6,
    families="all",
    benign_share=0.2,
    trap_share=0.2,
    hard_negative_share=0.2,
    empty_share=0.1,
)


def with_answer(item: ExamItem, text: str) -> ExamItem:
    return replace(item, answer=replace(item.answer, text=text))


def by_group(variants: list[Variant]) -> dict[str, list[Variant]]:
    return {
        group_id: list(group)
        for group_id, group in groupby(variants, key=lambda variant: variant.example.group_id)
    }


def test_the_papers_dataset() -> None:
    groups = by_group(filter_dataset(items(), FilterPlan(), groups=12, seed=1))
    answers = {f"DS_toy/{item.answer.answer_id}": item for item in items()}
    assert groups.keys() == answers.keys()
    for group_id, variants in groups.items():
        item = answers[group_id]
        text = item.answer.text
        attack_types = [variant.example.attack_type for variant in variants]
        assert attack_types == [CLEAN, *PAPER_ATTACKS]
        for variant in variants:
            attack_type = variant.example.attack_type
            assert variant.output == text
            assert variant.example.target == text + ("" if attack_type == "clean" else "\n")
            assert variant.example.prompt == filter_prompt(
                item.question, attacked(text, attack_type)
            )


def test_groups_are_spread_over_the_questions() -> None:
    variants = filter_dataset(items(questions=3, students=4), FilterPlan(), groups=6, seed=1)
    groups = {variant.example.group_id for variant in variants}
    assert Counter(group.split("-")[0] for group in groups) == Counter(
        {"DS_toy/q0": 2, "DS_toy/q1": 2, "DS_toy/q2": 2}
    )


def test_a_mixed_dataset_has_its_shares_and_groups_that_share_one_output() -> None:
    variants = filter_dataset(items(5, 10), MIXED, groups=30, seed=2)
    groups = by_group(variants)
    assert Counter(group[0].source for group in groups.values()) == Counter(
        {
            Source.EXAM: 9,
            Source.BENIGN: 6,
            Source.TRAP: 6,
            Source.HARD_NEGATIVE: 6,
            Source.EMPTY: 3,
        }
    )
    for group in groups.values():
        assert len(group) == 6
        assert len({variant.output for variant in group}) == 1
        clean, *attacked = group
        assert clean.example.attack_type == "clean"
        assert clean.example.target == clean.output
        assert len({variant.example.attack_type for variant in attacked}) >= 3
        for variant in group:
            assert variant.example.target.strip() == variant.output.strip()
    texts = [variant.example.text for variant in variants]
    assert all(any(exact in text for text in texts) for exact in PAPER_ATTACKS.values())


def test_variants_of_an_answer_name_it() -> None:
    variants = filter_dataset(items(5, 10), MIXED, groups=30, seed=2)
    answers = {f"DS_toy/{item.answer.answer_id}" for item in items(5, 10)}
    for variant in variants:
        if variant.source in (Source.BENIGN, Source.TRAP):
            origin, mark, kind = variant.example.group_id.partition("~")
            assert origin in answers
            assert mark
            assert kind


def test_an_empty_answer_is_all_attack() -> None:
    variants = filter_dataset(items(), replace(MIXED, empty_share=0.4), groups=10, seed=1)
    for variant in variants:
        if variant.source is Source.EMPTY:
            assert variant.output == variant.example.target == ""


def test_families_are_drawn_evenly_and_never_those_left_out() -> None:
    left_out = ("stealth", "coercive_suffix", "plea")
    plan = FilterPlan(variants=6, families="all", leave_out=left_out)
    # 13 families and 2 exact texts: 30 groups of 5 attacks are 10 rounds.
    variants = filter_dataset(items(5, 10), plan, groups=30, seed=1)
    drawn = Counter(variant.example.attack_type for variant in variants)
    del drawn["clean"]
    assert drawn.keys() == FAMILIES.keys() - set(left_out)
    assert drawn == Counter(
        {name: 20 if name in ("fake_rubric", "role_play") else 10 for name in drawn}
    )


def test_other_families_say_nothing_in_the_words_of_those_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left_out = ("coercive_suffix", "role_play", "authority")
    drawn: list[Attack] = []

    def record(*arguments: Any) -> Attack:
        drawn.append(make_attack(*arguments))
        return drawn[-1]

    monkeypatch.setattr("filter_training.filter_data.make_attack", record)
    plan = FilterPlan(variants=7, families="all", leave_out=left_out)
    # 13 families and 2 exact texts: 50 groups of 6 attacks are 20 rounds.
    variants = filter_dataset(items(5, 10), plan, groups=50, seed=1)
    refused = [attack for attack in drawn if not attack.borrowed.isdisjoint(left_out)]
    taken = {variant.example.prompt.tail for variant in variants}
    assert {attack.attack_type for attack in refused} >= {"hidden_text", "template_spoof"}
    assert not any(quote(attack.marked.text) in taken for attack in refused)
    assert len(drawn) - len(refused) == 20 * 13


def test_a_plan_that_leaves_a_family_no_words_is_refused() -> None:
    plan = FilterPlan(
        variants=3, families="all", leave_out=tuple(FAMILIES.keys() - {"hidden_text"})
    )
    with pytest.raises(SettingsError, match="hidden_text"):
        filter_dataset(items(), plan, groups=4, seed=1)


def test_exact_texts_go_with_their_classes() -> None:
    plan = FilterPlan(variants=3, families="all", leave_out=tuple(PAPER_ATTACKS))
    variants = filter_dataset(items(5, 10), plan, groups=50, seed=1)
    assert len(variants) == 150
    assert not any(
        text in variant.example.prompt.tail
        for variant in variants
        for text in PAPER_ATTACKS.values()
    )


def test_long_and_blank_answers_are_not_drawn() -> None:
    some = items()
    some[0] = with_answer(some[0], "long " * 50)
    some[1] = with_answer(some[1], " \n")
    variants = filter_dataset(some, FilterPlan(max_answer_chars=200), groups=12, seed=1)
    groups = {variant.example.group_id for variant in variants}
    assert groups == {f"DS_toy/{item.answer.answer_id}" for item in some[2:]}


@pytest.mark.parametrize("plan", [FilterPlan(), MIXED])
def test_a_seed_makes_one_dataset(plan: FilterPlan) -> None:
    made = [filter_dataset(items(), plan, groups=10, seed=seed) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
