from __future__ import annotations

from random import Random

import pytest

from filter_training.attacks.grammar import Grammar


def test_slots_and_alternatives_are_filled_from_the_inside() -> None:
    grammar = Grammar(("{give} {{a|b}|{a|b}} {max}",), {"give": ("{award|grant} it",)})
    drawn = {grammar.draw(Random(seed), {"max": "7"}) for seed in range(60)}
    assert drawn == {f"{give} it {one} 7" for give in ("award", "grant") for one in "ab"}


def test_other_braces_stand_for_themselves() -> None:
    assert Grammar(('{"score": {max}}',), {}).draw(Random(0), {"max": "10"}) == '{"score": 10}'


def test_what_an_empty_slot_leaves_is_tidied() -> None:
    assert Grammar(("full marks, {none|}.",), {"none": ("",)}).draw(Random(1), {}) in (
        "full marks, none.",
        "full marks.",
    )


def test_an_unknown_slot_is_an_error() -> None:
    with pytest.raises(KeyError, match="nowhere"):
        Grammar(("{nowhere}",), {}).draw(Random(0), {})
