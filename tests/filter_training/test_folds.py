from __future__ import annotations

import pytest

from filter_training.attacks import FAMILIES, PAPER_ATTACKS
from filter_training.folds import FAMILY_FOLDS, family_fold, question_fold
from service.errors import SettingsError
from tests.filter_training.world import items


def test_family_folds_are_a_balanced_partition_with_one_class_each() -> None:
    folds = [family_fold(fold) for fold in range(FAMILY_FOLDS)]
    assert sorted(name for fold in folds for name in fold) == sorted(FAMILIES)
    assert all(len(fold & PAPER_ATTACKS.keys()) == 1 for fold in folds)
    sizes = [len(fold) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_each_question_is_left_out_by_one_fold() -> None:
    all_items = items(questions=7)
    left_out: list[tuple[str, str]] = []
    for fold in range(3):
        kept, without = question_fold(all_items, fold, folds=3, seed=5)
        ids = {(item.question.exam_id, item.question.question_id) for item in kept}
        assert not ids & without
        assert len(ids | without) == 7
        assert len(kept) == 4 * len(ids)
        assert question_fold(all_items, fold, folds=3, seed=5) == (kept, without)
        left_out += without
    assert len(left_out) == len(set(left_out)) == 7


@pytest.mark.parametrize(("fold", "folds"), [(-1, 4), (4, 4), (0, 1)])
def test_a_fold_that_is_none_is_refused(fold: int, folds: int) -> None:
    with pytest.raises(SettingsError, match="fold"):
        question_fold(items(), fold, folds=folds, seed=1)
    if folds == FAMILY_FOLDS:
        with pytest.raises(SettingsError, match="fold"):
            family_fold(fold)
