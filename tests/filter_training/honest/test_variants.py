from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filter_training.honest import VARIANT_KINDS, benign_variant
from filter_training.honest.topics import read
from filter_training.marked import Part
from tests.filter_training.world import question

ANSWER = (
    "A stack gives back what came last, because it has one end. For example, it is used for calls. "
    "The queue does not do this; maybe it's faster, e.g. for printers. Both keep an order."
)


def _variants(part: Part, count: int = 300) -> dict[str, set[str]]:
    told: dict[str, set[str]] = {kind: set() for kind in VARIANT_KINDS}
    for seed in range(count):
        variant = benign_variant(question(1), ANSWER, Random(seed), part)
        told[variant.kind].add(variant.text)
    return told


@given(st.text(), st.integers(), st.sampled_from(Part))
def test_a_variant_of_any_text_is_bare_and_blank_only_for_a_blank_one(
    answer: str, seed: int, part: Part
) -> None:
    variant = benign_variant(question(1), answer, Random(seed), part)
    assert variant.text == variant.text.strip()
    assert bool(variant.text) == bool(answer.strip())
    assert variant.text != answer.strip() or not variant.text


@pytest.mark.parametrize("part", Part)
def test_all_kinds_occur(part: Part) -> None:
    assert all(_variants(part).values())


@pytest.mark.parametrize("part", Part)
def test_order_keeps_the_sentences(part: Part) -> None:
    for text in _variants(part)["order"]:
        assert text != ANSWER
        assert sorted(text.replace("\n", " ").split()) == sorted(ANSWER.split())


@pytest.mark.parametrize("part", Part)
def test_bullets_keep_the_words(part: Part) -> None:
    for text in _variants(part)["bullets"]:
        assert [line.split(" ", 1)[1] for line in text.split("\n")] == [
            "A stack gives back what came last, because it has one end.",
            "For example, it is used for calls.",
            "The queue does not do this; maybe it's faster, e.g. for printers.",
            "Both keep an order.",
        ]


def test_a_list_becomes_running_text() -> None:
    listed = "- one thing\n- another thing"
    texts = {benign_variant(question(1), listed, Random(n), Part.SEEN).text for n in range(200)}
    assert "one thing another thing" in texts


@pytest.mark.parametrize("part", Part)
def test_spelling_touches_few_words(part: Part) -> None:
    for text in _variants(part)["spelling"]:
        changed = [old != new for old, new in zip(ANSWER.split(), text.split(), strict=True)]
        assert 1 <= sum(changed) <= 3


@pytest.mark.parametrize("part", Part)
def test_case_changes_nothing_else(part: Part) -> None:
    for text in _variants(part)["case"]:
        assert text.lower() == ANSWER.lower()


def test_parts_share_no_wording() -> None:
    rules = read("variants").rules
    for name, seen in rules[Part.SEEN].items():
        assert not {*seen} & {*rules[Part.HELD_OUT][name]}


def test_parts_share_no_slip_hedge_or_list_mark() -> None:
    seen, held_out = _variants(Part.SEEN, 1000), _variants(Part.HELD_OUT, 1000)
    for kind in ("wording", "bullets", "hedged", "framing"):
        assert not seen[kind] & held_out[kind]
