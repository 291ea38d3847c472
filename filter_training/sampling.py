"""Which answers of an exam to use."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from filter_training.attacks import CLEAN
from service.exam import UNLABELLED, ExamItem


def unattacked(items: Sequence[ExamItem], split: str) -> list[ExamItem]:
    """Items of a split that are not variants made by an experiment.

    Items of a file that has no splits belong to every split.
    """
    return [
        item
        for item in items
        if item.split in (None, split) and item.answer.attack_type in (CLEAN, UNLABELLED)
    ]


def by_question(items: Sequence[ExamItem]) -> dict[tuple[str, str], list[ExamItem]]:
    """(exam_id, question_id) → the items of that question."""
    pools: dict[tuple[str, str], list[ExamItem]] = {}
    for item in items:
        pools.setdefault((item.question.exam_id, item.question.question_id), []).append(item)
    return pools


def stratified(items: Sequence[ExamItem], count: int, random: Random) -> list[ExamItem]:
    """`count` items drawn at random, as many of each question as of any other while they last."""
    pools = by_question(items)
    for pool in pools.values():
        random.shuffle(pool)
    chosen: list[ExamItem] = []
    while pools and len(chosen) < count:
        for key in list(pools):
            chosen.append(pools[key].pop())
            if not pools[key]:
                del pools[key]
    return chosen[:count]
