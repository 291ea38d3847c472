"""Rows of scores become arrays, or are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.scores import InconsistentScoresError, ScoreRow, Scores
from service.exam import HumanScore, ScoreScale
from tests.evaluation.made_up import TEN, VARIANTS, answer_rows, random_rows


def test_every_score_stands_in_its_place() -> None:
    rows = [
        *answer_rows("b", {"filtered": [2, 3, 4, 5, 6], "baseline": [1, 1, 1, 1, None]}),
        *answer_rows("a", {"baseline": [7, 8, 9, 10, 10]}, human=[8, 9], question_id="q0"),
    ]
    scores = Scores.of(rows)
    assert scores.answer.tolist() == ["a", "b"]
    assert scores.question_number.tolist() == [0, 1]
    assert scores.variants == VARIANTS
    assert scores.pipelines == ("baseline", "filtered")
    assert scores.of_pipeline("filtered", VARIANTS)[1].tolist() == [2, 3, 4, 5, 6]
    assert scores.of_pipeline("baseline", ("stealth", "clean"))[0].tolist() == [9, 7]
    assert scores.human[0].tolist() == [8, 9]
    assert scores.gold[0] == 8.5


def test_what_was_not_scored_is_missing() -> None:
    rows = [
        *answer_rows("a", {"baseline": [7, 8, 9, 10, None]}),
        *answer_rows("b", {"filtered": [1, 1, 1, 1, 1]}, human=[3]),
    ]
    scores = Scores.of(rows)
    assert np.isnan(scores.of_pipeline("filtered", VARIANTS)[0]).all()
    assert np.isnan(scores.of_pipeline("baseline", ("role_play",))).all()
    assert np.isnan(scores.of_pipeline("baseline", ("unheard_of",))).all()
    assert np.isnan(scores.gold[0])


def test_raters_come_in_any_order() -> None:
    first, *others = answer_rows("a", {"baseline": [5, 5, 5, 5, 5]}, human=[6, 7])
    turned = replace(first, human_scores=first.human_scores[::-1])
    assert Scores.of([turned, *others]).human.tolist() == [[6, 7]]


def test_an_expected_score_may_be_off_by_rounding() -> None:
    rows = answer_rows("a", {"baseline": [10, 10, 10, 10, 10]})
    summed = [replace(row, expected_score=10 + 1e-12) for row in rows]
    expected = Scores.of(summed).expected_of_pipeline("baseline", VARIANTS)
    assert expected[0].tolist() == pytest.approx([10] * 5)


def test_the_same_ids_in_two_exams_are_two_answers() -> None:
    both = [
        row
        for exam in ("one", "two")
        for row in answer_rows("a", {"baseline": [1, 1, 1, 1, 1]}, exam_id=exam)
    ]
    scores = Scores.of(both)
    assert scores.exams == ("one", "two")
    assert scores.question_number.tolist() == [0, 1]
    second = scores.among(scores.exam == "two")
    assert (len(second), second.exams, second.question_number.tolist()) == (1, ("two",), [0])


def test_points_of_another_scale_are_compared_as_points_of_ten() -> None:
    rows = answer_rows("a", {"baseline": [1, 2, 3, 4, 5]}, scale=ScoreScale(0, 5), human=[2.5])
    scores = Scores.of(rows)
    assert scores.on_ten(scores.of_pipeline("baseline", VARIANTS)).tolist() == [[2, 4, 6, 8, 10]]
    assert scores.on_ten(scores.gold).tolist() == [5]


def test_a_pipeline_that_scored_nothing_is_named() -> None:
    with pytest.raises(InconsistentScoresError, match="'other', only by baseline, filtered"):
        Scores.of(random_rows(2, seed=1)).of_pipeline("other", VARIANTS)


ROW = answer_rows("a", {"baseline": [5, 5, 5, 5, 5]}, human=[6])[0]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no scores"),
        ([ROW, ROW], "scored twice"),
        ([replace(ROW, score=11)], "score 11 is not between 1 and 10"),
        ([replace(ROW, score=float("nan"))], "score nan"),
        ([replace(ROW, expected_score=0.5)], "expected score 0.5"),
        ([replace(ROW, human_scores=(HumanScore("rater_1", 0),))], "rater_1 0 is not"),
        ([replace(ROW, human_scores=(HumanScore("r", 1), HumanScore("r", 2)))], "one rater"),
        *(
            ([ROW, replace(ROW, attack_type="stealth", **other)], "other data of the same answer")
            for other in (
                {"question_id": "q2"},
                {"student_id": "somebody"},
                {"gold_type": "argumentative"},
                {"scale": ScoreScale(0, 10)},
                {"human_scores": ()},
            )
        ),
    ],
)
def test_rows_that_contradict_are_refused(rows: list[ScoreRow], reason: str) -> None:
    with pytest.raises(InconsistentScoresError, match=reason):
        Scores.of(rows)


@given(st.permutations(random_rows(5, seed=7)))
def test_the_order_of_rows_changes_nothing(rows: list[ScoreRow]) -> None:
    ordered, shuffled = Scores.of(random_rows(5, seed=7)), Scores.of(rows)
    assert ordered.answer.tolist() == shuffled.answer.tolist()
    np.testing.assert_array_equal(ordered.score, shuffled.score)
    np.testing.assert_array_equal(ordered.human, shuffled.human)
    assert TEN.max_points == ordered.max_points[0]
