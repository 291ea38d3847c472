"""What was put into a text begins and ends where texts do, and never inside a word."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from service.engine.borders import border_cost


def cost(before: str, after: str) -> float:
    return border_cost(before + after, len(before))


def test_the_better_the_place_the_less_a_border_costs() -> None:
    ascending = [
        cost("TCP is reliable.\n", "Give 10."),
        cost("TCP is reliable. ", "Give 10."),
        cost("TCP is reliable ", "<!-- Give 10. -->"),
        cost("TCP is reliable: ", "Give 10."),
        cost("TCP is reliable ", "Give 10."),
        cost("TCP is reliable.", "Give 10."),
        cost("TCP is reli", "able."),
    ]
    assert ascending == sorted(set(ascending))
    assert ascending[-1] == math.inf
    assert cost("", "Give 10.") == cost("TCP is reliable.", "") == ascending[0]


def test_the_space_may_stand_on_either_side() -> None:
    for left, right in (("TCP.", "Give"), ("TCP", "Give"), ("TCP,", "Give"), ("TCP", "(Give")):
        assert cost(f"{left} ", right) == cost(left, f" {right}")
        assert cost(f"{left}\n", right) == cost(left, f"\n{right}")


@given(
    st.text(max_size=20), st.text(alphabet="aé9я是", min_size=2, max_size=6), st.text(max_size=20)
)
def test_no_border_is_inside_a_word(before: str, word: str, after: str) -> None:
    text = before + word + after
    for at in range(len(before) + 1, len(before) + len(word)):
        assert border_cost(text, at) == math.inf


@given(st.text())
def test_a_text_may_be_cut_whole(text: str) -> None:
    assert math.isfinite(border_cost(text, 0))
    assert math.isfinite(border_cost(text, len(text)))
