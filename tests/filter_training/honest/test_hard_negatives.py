from __future__ import annotations

import re
from random import Random

import pytest

from filter_training.honest import HARD_NEGATIVE_KINDS, Honest, hard_negative
from filter_training.honest.topics import read
from filter_training.marked import Part

_DRAWS = 150


def _drawn(kind: str, part: Part, draws: int = _DRAWS) -> list[Honest]:
    return [hard_negative(Random(f"{kind} {number}"), part, kind) for number in range(draws)]


@pytest.mark.parametrize("part", Part)
@pytest.mark.parametrize("kind", HARD_NEGATIVE_KINDS)
def test_texts_are_filled_and_bare(kind: str, part: Part) -> None:
    for honest in _drawn(kind, part):
        assert honest.kind == kind
        assert honest.text
        assert honest.text == honest.text.strip()
        assert not re.search("[‹›]", honest.text + honest.question.text)


@pytest.mark.parametrize("kind", HARD_NEGATIVE_KINDS)
def test_parts_share_neither_question_nor_answer(kind: str) -> None:
    seen, held_out = (_drawn(kind, part, 600) for part in Part)
    for aspect in ("question_id", "text"):
        assert not {getattr(one.question, aspect) for one in seen} & {
            getattr(one.question, aspect) for one in held_out
        }
    assert not {one.text for one in seen} & {one.text for one in held_out}


@pytest.mark.parametrize("kind", HARD_NEGATIVE_KINDS)
def test_answers_are_many(kind: str) -> None:
    assert len({one.text for one in _drawn(kind, Part.SEEN)}) > 0.6 * _DRAWS


def test_the_same_random_gives_the_same_answer() -> None:
    for seed in range(50):
        assert hard_negative(Random(seed), Part.SEEN) == hard_negative(Random(seed), Part.SEEN)


def test_every_kind_is_drawn() -> None:
    random = Random(1)
    assert {hard_negative(random, Part.SEEN).kind for _ in range(500)} == set(HARD_NEGATIVE_KINDS)


def test_questions_have_a_rubric_that_adds_up() -> None:
    for kind in HARD_NEGATIVE_KINDS:
        for honest in _drawn(kind, Part.SEEN, 40):
            question = honest.question
            assert sum(point.weight for point in question.gold_points) == question.scale.max_points
            assert question.text
            assert question.domain


@pytest.mark.parametrize("kind", HARD_NEGATIVE_KINDS)
def test_rules_of_the_parts_have_no_text_in_common(kind: str) -> None:
    rules = read(kind).rules
    for name in rules.get(Part.SEEN, {}):
        assert not {*rules[Part.SEEN][name]} & {*rules[Part.HELD_OUT].get(name, ())}


def test_plain_answers_stand_beside_the_odd_ones() -> None:
    comments = ["<!--" in honest.text for honest in _drawn("html", Part.SEEN, 400)]
    assert 0.2 < sum(comments) / len(comments) < 0.8
