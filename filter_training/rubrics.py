"""What a rubric says about answers that are put together from its points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from filter_training.honest import HARD_NEGATIVE_KINDS
from filter_training.honest.topics import as_question, read
from filter_training.marked import Part
from service.exam import Criterion, Question

_MOST_POINTS = 12


@dataclass(frozen=True)
class Rubric:
    """A question and the points that earn its full score.

    Attributes:
        question: with its reference solution and weighted points.
        needed: points that earn the full score together.
    """

    question: Question
    needed: frozenset[Criterion]

    def earned(self, points: Sequence[Criterion]) -> float:
        """The score of an answer that makes these points and no other."""
        scale = self.question.scale
        if self.needed and self.needed <= set(points):
            return scale.max_points
        return scale.clamp(float(sum(point.weight for point in points)))


def whole(question: Question) -> Rubric:
    """The question as it stands: its points earn their weights."""
    return Rubric(question, frozenset(question.gold_points))


def abridged(question: Question) -> Rubric:
    """The question with a reference solution that says no more than its weightiest points.

    Whoever says as much as the reference solution earns the full score, whatever else the rubric
    lists.
    """
    points = half_of_the_points(question)
    if not points:
        return whole(question)
    return Rubric(replace(question, gold_answer=as_answer(points)), frozenset(points))


def own_rubrics(random: Random) -> Iterator[tuple[Rubric, list[str]]]:
    """A question of each topic of our own, and answers to other questions of its kind."""
    for kind in (*HARD_NEGATIVE_KINDS, "general"):
        topics = read(kind).topics(Part.SEEN)
        for topic in topics:
            question = as_question(topic, kind, random.randrange(len(topic.questions)))
            strangers = [
                text
                for other in topics
                if other is not topic
                for text in (" ".join(other.points), *other.points)
            ]
            yield random.choice((whole, abridged))(question), strangers


def half_of_the_points(question: Question) -> tuple[Criterion, ...]:
    """The points, in their order, whose weights sum nearest to half of all weights.

    Where several choices are equally near, the one with the fewest points; empty without points.
    Of very long rubrics only the first points count.
    """
    points = question.gold_points[:_MOST_POINTS]
    total = sum(point.weight for point in points)
    return min(
        subsets(points),
        key=lambda chosen: (abs(2 * sum(point.weight for point in chosen) - total), len(chosen)),
    )


def as_answer(points: Sequence[Criterion]) -> str:
    """The points' texts as an answer that states them."""
    return " ".join(point.text for point in points)


def subsets(points: Sequence[Criterion]) -> list[tuple[Criterion, ...]]:
    """All choices of points; of very long rubrics, those of the first points."""
    choices: list[tuple[Criterion, ...]] = [()]
    for point in points[:_MOST_POINTS]:
        choices += [(*chosen, point) for chosen in choices]
    return choices
