"""What training leaves out, so that something is left that it never saw."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from filter_training.attacks import FAMILIES, PAPER_ATTACKS
from service.errors import SettingsError
from service.exam import ExamItem, Question

FAMILY_FOLDS = len(PAPER_ATTACKS)
QUESTION_FOLDS = 5
"""How many folds of questions there are where nobody says otherwise."""


def family_fold(fold: int) -> frozenset[str]:
    """The families that fold 0, 1, 2 or 3 leaves out: one of the paper's four, and its share.

    The four folds hold every family once.

    Raises:
        SettingsError: there is no such fold.
    """
    _check(fold, FAMILY_FOLDS)
    others = sorted(set(FAMILIES) - set(PAPER_ATTACKS))
    return frozenset({list(PAPER_ATTACKS)[fold], *others[fold::FAMILY_FOLDS]})


def question_fold(
    items: Sequence[ExamItem], fold: int, *, folds: int, seed: int
) -> tuple[list[ExamItem], set[tuple[str, str]]]:
    """The answers to train on, and the (exam, question) ids that fold `fold` leaves out.

    Questions are shuffled with the seed and dealt to the folds, so all answers to a question are
    on one side, and each question is left out by one fold.

    Raises:
        SettingsError: there is no such fold.
    """
    _check(fold, folds)
    questions = sorted({question_key(item.question) for item in items})
    Random(seed).shuffle(questions)
    left_out = set(questions[fold::folds])
    return [item for item in items if question_key(item.question) not in left_out], left_out


def left_out(items: Sequence[ExamItem], fold: int, *, folds: int, seed: int) -> list[ExamItem]:
    """The answers to the questions that `question_fold` leaves out; the same seed, the same ones.

    Raises:
        SettingsError: there is no such fold.
    """
    _, keys = question_fold(items, fold, folds=folds, seed=seed)
    return [item for item in items if question_key(item.question) in keys]


def question_key(question: Question) -> tuple[str, str]:
    """What a question is told by: (exam, question) ids."""
    return question.exam_id, question.question_id


def _check(fold: int, folds: int) -> None:
    if folds < 2 or not 0 <= fold < folds:
        raise SettingsError(f"fold {fold} of {folds}: folds count from 0, and there are at least 2")
