from __future__ import annotations

import json
import shutil
from collections import Counter
from itertools import chain
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.texts import always, draw, never, one_in_five, portions, read_items
from filter_training.attacks import CLEAN, PAPER_ATTACKS, attacked
from service.resources import examples_dir
from tests.benchmarks.made_up import items

ITEMS = items(questions=4, answers=100)


@given(st.integers(1, 20), st.integers(1, 40))
def test_the_sample_begins_the_whole(sample: int, more: int) -> None:
    drawn = draw(ITEMS, never, sample=sample, whole=sample + more)
    assert drawn.sample == drawn.whole[:sample]
    assert len({text.answer.answer_id for text in drawn.whole}) == sample + more
    assert drawn == draw(ITEMS, never, sample=sample, whole=sample + more)


def test_a_sample_is_even_over_questions() -> None:
    counts = Counter(text.question for text in draw(ITEMS, never, sample=20, whole=40).sample)
    assert set(counts.values()) == {5}


def test_one_answer_in_five_is_attacked() -> None:
    whole = draw(ITEMS, one_in_five, sample=0, whole=40).whole
    kinds = Counter(text.answer.attack_type for text in whole)
    assert kinds == {CLEAN: 32, **dict.fromkeys(PAPER_ATTACKS, 2)}


def test_attacks_take_turns_and_stand_behind_the_answer() -> None:
    whole = draw(ITEMS, always, sample=0, whole=8).whole
    assert [text.answer.attack_type for text in whole] == list(PAPER_ATTACKS) * 2
    for text in whole:
        assert text.answer.text == attacked(text.clean, text.answer.attack_type)


def test_portions_hold_every_text_and_one_question_each() -> None:
    whole = draw(ITEMS, never, sample=0, whole=400).whole
    made = list(portions(whole))
    assert all(len({text.question for text in portion}) == 1 for portion in made)
    assert max(map(len, made)) == 64
    together = list(chain.from_iterable(made))
    assert sorted(text.answer.answer_id for text in together) == sorted(
        text.answer.answer_id for text in whole
    )


def test_only_answers_that_students_gave_and_that_say_something(tmp_path: Path) -> None:
    lines = (examples_dir() / "exam.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])
    variants = [
        record,
        record | {"answer_id": "empty", "student_answer": " "},
        record | {"answer_id": "attacked", "attack_type": "stealth"},
    ]
    text = "\n".join(map(json.dumps, variants))
    (tmp_path / "ML_nn.jsonl").write_text(text, encoding="utf-8")
    found = read_items(tmp_path, "ML_nn")
    assert found is not None
    assert [item.answer.answer_id for item in found] == [record["answer_id"]]


def test_a_course_whose_file_is_missing_has_no_answers(tmp_path: Path) -> None:
    shutil.copy(examples_dir() / "exam.jsonl", tmp_path / "ML_nn.jsonl")
    assert read_items(tmp_path, "ML_nn")
    assert read_items(tmp_path, "CN_saf") is None
