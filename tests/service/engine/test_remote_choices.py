from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.remote_choices import choice_odds

END, BREAK = 2, 13
CONTEXT = [1, 7, 7]


def ids(choice: str) -> list[int]:
    return [*CONTEXT, *(100 + int(digit) for digit in choice), BREAK]


def model(context: Sequence[int]) -> Mapping[int, float]:
    """A made-up language model over digits, line break and end."""
    tokens = [END, BREAK, *range(100, 110)]
    weights = [1 + (sum(context) * 31 + token * 17) % 11 for token in tokens]
    return {
        token: math.log(weight / sum(weights))
        for token, weight in zip(tokens, weights, strict=True)
    }


def test_a_choice_that_begins_another_counts_only_as_a_whole() -> None:
    root, one = model(CONTEXT), model([*CONTEXT, 101])
    p1 = math.exp(root[101]) * (math.exp(one[BREAK]) + math.exp(one[END]))
    p10 = math.exp(root[101]) * math.exp(one[100])
    p2 = math.exp(root[102])
    odds = choice_odds({c: ids(c) for c in ("1", "2", "10")}, [END], model)
    total = p1 + p2 + p10
    assert odds == pytest.approx({"1": p1 / total, "2": p2 / total, "10": p10 / total})


def test_the_server_is_asked_only_where_choices_part() -> None:
    asked: list[tuple[int, ...]] = []

    def next_token(context: Sequence[int]) -> Mapping[int, float]:
        asked.append(tuple(context))
        return model(context)

    choice_odds({str(c): ids(str(c)) for c in range(1, 11)}, [END], next_token)
    assert asked == [tuple(CONTEXT), (*CONTEXT, 101)]


@given(st.sets(st.integers(0, 150), min_size=1, max_size=12))
def test_odds_add_up_to_one(scores: set[int]) -> None:
    odds = choice_odds({str(score): ids(str(score)) for score in scores}, [END], model)
    assert odds is not None
    assert odds.keys() == {str(score) for score in scores}
    assert sum(odds.values()) == pytest.approx(1)


def test_a_token_that_is_not_among_the_likeliest_has_no_probability() -> None:
    odds = choice_odds({"1": ids("1"), "2": ids("2")}, [END], lambda _: {101: -3.0})
    assert odds == {"1": 1.0, "2": 0.0}


@pytest.mark.parametrize("following", [None, {}, {55: -0.1}])
def test_nothing_is_said_where_the_server_says_nothing(
    following: Mapping[int, float] | None,
) -> None:
    assert choice_odds({"1": ids("1"), "2": ids("2")}, [END], lambda _: following) is None
