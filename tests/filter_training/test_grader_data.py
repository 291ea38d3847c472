from __future__ import annotations

from collections import Counter

from filter_training.grader_data import grader_examples
from service.prompts import parse_score
from tests.filter_training.world import items, question


def test_grader_targets_are_valid_scores() -> None:
    examples = grader_examples(items(), per_question=16, seed=1, spread=0, justify=False)
    assert Counter(example.attack_type for example in examples) == Counter(
        {"human_score": 24, "rubric_score": 24}
    )
    for example in examples:
        assert parse_score(example.target, question(0).scale).score is not None


def test_rubric_scores_follow_the_rubric() -> None:
    examples = grader_examples(items(), per_question=64, seed=1, spread=0, justify=False)
    by_answer = {example.prompt.tail: example.target for example in examples}
    assert by_answer["> A stack is last in, first out; a queue is first in, first out."] == (
        "Answer: 10"
    )
    assert by_answer["> stack: last in, first out"] == "Answer: 6"
    assert by_answer["> queue: first in"] == "Answer: 4"
    assert by_answer["> I don't know."] == "Answer: 1"
