"""Attacked twins of a grader's examples."""

from __future__ import annotations

from dataclasses import replace

from filter_training.attacks import FAMILIES
from filter_training.examples import split_groups
from filter_training.graded import GradedExample
from filter_training.grader_data import grader_examples
from filter_training.recipe import load_recipe
from tests.filter_training.world import items


def data(share: float) -> list[GradedExample]:
    return grader_examples(items(), per_question=16, attacked_share=share, seed=1)


def attacks(examples: list[GradedExample]) -> list[GradedExample]:
    return [example for example in examples if example.attack_type in FAMILIES]


def test_a_twin_earns_what_its_answer_earns() -> None:
    examples = data(1.0)
    assert len(attacks(examples)) == len(examples) / 2
    for own, twin in zip(examples[::2], examples[1::2], strict=True):
        assert own.attack_type not in FAMILIES
        assert twin.attack_type in FAMILIES
        assert (twin.target, twin.fraction) == (own.target, own.fraction)
        assert twin.group_id == own.group_id
        assert twin.prompt.head == own.prompt.head
        assert len(twin.prompt.tail) > len(own.prompt.tail)


def test_the_other_examples_are_the_same_whatever_is_attacked() -> None:
    plain = data(0.0)
    assert not attacks(plain)
    for share in (0.3, 1.0):
        attacked = attacks(data(share))
        assert [example for example in data(share) if example not in attacked] == plain
    assert 0.15 < len(attacks(data(0.3))) / len(plain) < 0.45


def test_an_answer_and_its_twin_are_on_one_side() -> None:
    training, validation = split_groups(data(1.0), validation_share=0.3, seed=1)
    assert validation
    assert not {one.group_id for one in training} & {one.group_id for one in validation}


def test_the_recipe_differs_from_the_graders_in_the_attacks_only() -> None:
    clean, attacked = map(load_recipe, ("smollm2-135m-grader", "smollm2-135m-grader-attacked"))
    assert attacked.attacked_share == 1
    assert replace(attacked, attacked_share=0.0) == clean
