from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from filter_training.sampling import stratified, unattacked
from tests.filter_training.world import items


def test_a_sample_is_spread_over_the_questions() -> None:
    drawn = stratified(items(questions=3, students=5), 7, Random(1))
    counts = Counter(item.question.question_id for item in drawn)
    assert sorted(counts.values()) == [2, 2, 3]
    assert len({item.answer.answer_id for item in drawn}) == 7
    assert drawn == stratified(items(questions=3, students=5), 7, Random(1))
    assert len(stratified(items(), 99, Random(1))) == len(items())


def test_variants_of_an_experiment_and_other_splits_are_left_out() -> None:
    plain, attacked, clean, elsewhere = items(questions=1)
    variant = replace(attacked, answer=replace(attacked.answer, attack_type="stealth"))
    clean = replace(clean, answer=replace(clean.answer, attack_type="clean"), split="test")
    elsewhere = replace(elsewhere, split="train")
    assert unattacked([plain, variant, clean, elsewhere], "test") == [plain, clean]
