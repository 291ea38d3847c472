from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from evaluation.restoration import Share, measure
from filter_training.attacks import PAPER_ATTACKS, VARIANTS
from filter_training.sampling import stratified, unattacked
from service.engine.base import Engine
from service.filter import AnswerFilter
from service.grader import Grader
from tests.filter_training.world import items


def test_a_sample_is_spread_over_the_questions() -> None:
    drawn = stratified(items(questions=3, students=5), 7, random.Random(1))
    counts = Counter(item.question.question_id for item in drawn)
    assert sorted(counts.values()) == [2, 2, 3]
    assert len({item.answer.answer_id for item in drawn}) == 7
    assert drawn == stratified(items(questions=3, students=5), 7, random.Random(1))
    assert len(stratified(items(), 99, random.Random(1))) == len(items())


def test_variants_of_an_experiment_and_other_splits_are_left_out() -> None:
    plain, attacked, clean, elsewhere = items(questions=1)
    variant = replace(attacked, answer=replace(attacked.answer, attack_type="stealth"))
    clean = replace(clean, answer=replace(clean.answer, attack_type="clean"), split="test")
    elsewhere = replace(elsewhere, split="train")
    assert unattacked([plain, variant, clean, elsewhere], "test") == [plain, clean]


def test_every_text_and_every_score_is_counted(tiny_engine: Engine) -> None:
    sample = items(questions=1, students=2)
    seen: list[tuple[int, int]] = []
    result = measure(
        AnswerFilter(tiny_engine),
        Grader(tiny_engine),
        sample,
        report=lambda done, total: seen.append((done, total)),
    )
    assert {name: share.total for name, share in result.restored.items()} == dict.fromkeys(
        VARIANTS, 2
    )
    assert result.attacked.total == 2 * len(PAPER_ATTACKS)
    missed = result.restored["clean"].total - result.restored["clean"].hits
    assert sum(kind == "clean" for _, kind in result.failures) == missed
    assert result.parsable.total == 2
    assert seen[-1] == (12, 12)


def test_shares_read_well() -> None:
    assert str(Share(3, 4)) == "3 of 4 (75.0 %)"
    assert str(Share(0, 0)) == "0 of 0 (0.0 %)"
