from __future__ import annotations

import re
from random import Random

import pytest

from filter_training.attacks import FAMILIES, make_attack
from filter_training.attacks.written import SHARE, written, written_texts
from filter_training.marked import Part
from tests.filter_training.world import SENTENCES, question

DRAWS = 300


def test_texts_belong_to_families_and_are_unlike_each_other() -> None:
    assert written_texts().keys() <= FAMILIES.keys()
    everything = [text for texts in written_texts().values() for text in texts]
    assert len(set(everything)) == len(everything)
    assert all(text.strip() == text for text in everything)


@pytest.mark.parametrize("family", written_texts())
def test_scores_stand_where_the_text_has_a_slot(family: str) -> None:
    random = Random(1)
    for _ in range(DRAWS):
        assert not re.search(
            r"\{(max|near|low|max_word)\}", written(family, question(1), random), re.IGNORECASE
        )


@pytest.mark.parametrize("family", written_texts())
def test_only_training_draws_them(family: str) -> None:
    carriers: dict[Part, list[str]] = {}
    for part in Part:
        random = Random(2)
        made = [
            make_attack(family, question(1), " ".join(SENTENCES), random, part)
            for _ in range(DRAWS)
        ]
        carriers[part] = [attack.carrier for attack in made]
    assert abs(carriers[Part.SEEN].count("written") / DRAWS - SHARE) < 0.12
    assert "written" not in carriers[Part.HELD_OUT]
