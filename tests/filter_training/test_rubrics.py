"""Scores that follow from a rubric's points."""

from __future__ import annotations

from filter_training.rubrics import abridged, as_answer, half_of_the_points, whole
from tests.filter_training.world import question


def test_half_of_the_points_weigh_as_near_to_half_as_can_be() -> None:
    half = half_of_the_points(question(0))
    assert [point.weight for point in half] == [6] or [point.weight for point in half] == [4]
    assert as_answer(half) in ("stack: last in, first out", "queue: first in")


def test_points_earn_their_weights_and_all_of_them_the_full_score() -> None:
    rubric = whole(question(0))
    stack, queue = question(0).gold_points
    assert [rubric.earned(points) for points in ((), (stack,), (queue,), (queue, stack))] == [
        *(1.0, 6.0, 4.0, 10.0)
    ]


def test_whoever_says_as_much_as_a_short_reference_solution_earns_the_full_score() -> None:
    rubric = abridged(question(0))
    said = half_of_the_points(question(0))
    (other,) = set(question(0).gold_points) - set(said)
    assert rubric.question.gold_answer == as_answer(said)
    assert rubric.earned(said) == 10.0
    assert rubric.earned((other,)) == other.weight
