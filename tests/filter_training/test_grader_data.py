"""Examples for the grader: human scores over all classes, and scores that the rubric fixes."""

from __future__ import annotations

from collections import Counter

from filter_training.examples import split_groups
from filter_training.graded import GradedExample
from filter_training.grader_data import grader_examples
from service.exam import ExamItem
from service.prompts import parse_score
from tests.filter_training.world import items, question


def data(
    per_question: int, exam: list[ExamItem] | None = None, seed: int = 1
) -> list[GradedExample]:
    return grader_examples(exam or items(), per_question=per_question, seed=seed)


def test_half_of_the_examples_carry_human_scores_as_far_as_distinct_answers_last() -> None:
    few, many = data(8), data(64)
    assert Counter(example.attack_type for example in few) == Counter(
        {"human_score": 12, "rubric_score": 12}
    )
    # Three questions of four answers each: there are no more.
    assert Counter(example.attack_type for example in many)["human_score"] == 12


def test_human_scores_are_drawn_evenly_over_their_classes() -> None:
    exam = items(questions=1, students=40)
    scores = Counter(e.target for e in data(16, exam) if e.attack_type == "human_score")
    assert scores == Counter({"Answer: 1": 2, "Answer: 4": 2, "Answer: 7": 2, "Answer: 10": 2})


def test_targets_are_valid_scores_near_the_mean_of_the_raters() -> None:
    for example in data(16):
        parsed = parse_score(example.target, question(0).scale)
        assert parsed.score is not None
        assert abs(parsed.score - (1 + 9 * example.fraction)) <= 0.5


def test_rubric_scores_follow_the_rubric() -> None:
    by_answer = {
        example.prompt.tail: example.target
        for example in data(400)
        if question(0).gold_answer in example.prompt.text.removesuffix(example.prompt.tail)
    }
    assert by_answer["> A stack is last in, first out; a queue is first in, first out."] == (
        "Answer: 10"
    )
    assert by_answer["> stack: last in, first out"] == "Answer: 6"
    assert by_answer["> queue: first in"] == "Answer: 4"
    assert by_answer["> I don't know."] == "Answer: 1"
    assert by_answer["> A stack is sorted."] == "Answer: 1"


def test_as_much_as_a_short_reference_solution_says_earns_the_full_score() -> None:
    targets = {
        example.target
        for example in data(400)
        if question(0).gold_answer not in example.prompt.text
        and "stack: last in, first out" in example.prompt.tail
    }
    assert targets == {"Answer: 10"}


def test_questions_of_our_own_have_rubric_scores_only() -> None:
    own = grader_examples([], per_question=8, per_own_question=4, seed=1)
    assert {example.attack_type for example in own} == {"rubric_score"}
    assert len({example.prompt.head for example in own}) > 50
    assert len(own) == 4 * len({example.prompt.head for example in own})
    assert {"Answer: 1", "Answer: 10"} < {example.target for example in own}


def test_equal_answers_to_a_question_never_fall_into_different_splits() -> None:
    training, validation = split_groups(data(64), validation_share=0.3, seed=1)
    sides = [{example.prompt.text for example in side} for side in (training, validation)]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]


def test_the_draw_is_seeded() -> None:
    assert data(16) == data(16)
    assert data(16) != data(16, seed=2)
