from __future__ import annotations

from collections import Counter

from filter_training.attacks import PAPER_ATTACKS, VARIANTS, attacked
from filter_training.examples import split_groups
from filter_training.filter_data import HONEST_TRAP, MOVED, filter_examples
from filter_training.grader_data import grader_examples
from service.prompts import filter_prompt, parse_score
from tests.filter_training.world import items, question


def test_a_family_has_the_five_variants_with_one_target_up_to_the_separator() -> None:
    answers = {f"DS_toy/{item.answer.answer_id}": item for item in items()}
    examples = filter_examples(items(), groups=12, seed=1)
    for group_id, item in answers.items():
        family = {e.attack_type: e for e in examples if e.group_id == group_id}
        text = item.answer.text
        for attack_type in VARIANTS:
            assert family[attack_type].target == text + ("" if attack_type == "clean" else "\n")
            assert family[attack_type].prompt == filter_prompt(
                item.question, attacked(text, attack_type)
            )


def test_extra_variants_move_an_attack_or_tell_the_truth() -> None:
    examples = filter_examples(items(), groups=12, seed=1)
    counts = Counter(example.attack_type for example in examples)
    assert counts[MOVED] + counts[HONEST_TRAP] == 12
    segments = [line for text in PAPER_ATTACKS.values() for line in text.splitlines()]
    for example in examples:
        assert not any(segment in example.target for segment in segments)
        if example.attack_type == HONEST_TRAP:
            assert example.prompt.tail == "\n".join(f"> {x}" for x in example.target.split("\n"))
        if example.attack_type == MOVED:
            assert any(segment in example.prompt.tail for segment in segments)


def test_families_are_spread_over_the_questions() -> None:
    examples = filter_examples(items(questions=3, students=4), groups=6, seed=1)
    groups = {example.group_id for example in examples}
    assert Counter(group.split("-")[0] for group in groups) == Counter(
        {"DS_toy/q0": 2, "DS_toy/q1": 2, "DS_toy/q2": 2}
    )


def test_the_split_is_by_group_and_seeded() -> None:
    examples = filter_examples(items(), groups=10, seed=1)
    training, validation = split_groups(examples, validation_share=0.2, seed=7)
    assert not {e.group_id for e in training} & {e.group_id for e in validation}
    assert len({e.group_id for e in validation}) == 2
    assert len(training) + len(validation) == len(examples)
    assert split_groups(examples, validation_share=0.2, seed=7) == (training, validation)


def test_grader_targets_are_valid_scores() -> None:
    examples = grader_examples(items(), per_question=16, seed=1, justify=False)
    assert Counter(example.attack_type for example in examples) == Counter(
        {"human_score": 24, "rubric_score": 24}
    )
    for example in examples:
        assert parse_score(example.target, question(0).scale).score is not None


def test_rubric_scores_follow_the_rubric() -> None:
    examples = grader_examples(items(), per_question=64, seed=1, justify=False)
    by_answer = {example.prompt.tail: example.target for example in examples}
    assert by_answer["> A stack is last in, first out; a queue is first in, first out."] == (
        "Answer: 10"
    )
    assert by_answer["> stack: last in, first out"] == "Answer: 6"
    assert by_answer["> queue: first in"] == "Answer: 4"
    assert by_answer["> I don't know."] == "Answer: 1"
