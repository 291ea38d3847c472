from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InputError
from service.exam import ScoreScale, format_score


def scales() -> st.SearchStrategy[ScoreScale]:
    return st.builds(
        lambda least, width, step: ScoreScale(least * step, (least + width) * step, step),
        st.integers(0, 20),
        st.integers(1, 200),
        st.sampled_from([1.0, 0.5]),
    )


@given(scales())
def test_scores_rise_from_the_least_to_the_most_in_steps(scale: ScoreScale) -> None:
    scores = scale.scores()
    assert (scores[0], scores[-1]) == (scale.min_score, scale.max_points)
    assert all(after - before == scale.step for before, after in pairwise(scores))
    assert all(scale.on_grid(score) for score in scores)


@given(scales(), st.floats(-1e6, 1e6))
def test_clamp_keeps_what_is_in_range_and_moves_the_rest_to_the_nearest_end(
    scale: ScoreScale, value: float
) -> None:
    clamped = scale.clamp(value)
    assert scale.min_score <= clamped <= scale.max_points
    if scale.min_score <= value <= scale.max_points:
        assert clamped == value


@given(scales())
def test_a_score_is_read_back_as_it_is_written(scale: ScoreScale) -> None:
    for score in scale.scores():
        assert float(format_score(score)) == score


@pytest.mark.parametrize(
    ("least", "most", "step"),
    [(1, 10, 2), (1, 10, 0.25), (-1, 10, 1), (10, 10, 1), (5, 3, 1), (0.5, 10, 1), (0, 9.75, 0.5)],
)
def test_a_scale_that_makes_no_sense_is_refused(least: float, most: float, step: float) -> None:
    with pytest.raises(InputError):
        ScoreScale(least, most, step)


@pytest.mark.parametrize(
    ("value", "step", "holds"),
    [(7.0, 1, True), (7.5, 1, False), (7.5, 0.5, True), (7.3, 0.5, False)],
)
def test_only_multiples_of_the_step_are_on_the_grid(value: float, step: float, holds: bool) -> None:
    assert ScoreScale(0, 10, step).on_grid(value) is holds
