"""Examples for the grader of a model that cannot grade zero-shot.

Half of them carry human scores, drawn evenly over the score classes, since real exams hold
mostly full marks. The other half is made from the rubric, where the right score is known: the
reference solution, random subsets of the weighted points, answers to other questions, and
answers that say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random

from filter_training.examples import Example
from filter_training.sampling import by_question
from service.exam import ExamItem, Question, format_score
from service.prompts import ANSWER_CUE, grading_prompt

HUMAN = "human_score"
RUBRIC = "rubric_score"
_NOTHING = ("", "I don't know.", "No idea, sorry.", "-", "I did not learn this.", "?")


def grader_examples(
    items: Sequence[ExamItem], *, per_question: int, seed: int, justify: bool
) -> list[Example]:
    """`per_question` examples for each question, half with human and half with rubric scores."""
    random = Random(seed)
    pools = by_question(items)
    examples: list[Example] = []
    for key, pool in sorted(pools.items()):
        question = pool[0].question
        strangers = [
            item.answer.text
            for other, others in sorted(pools.items())
            if other != key
            for item in others
            if len(item.answer.text) > 20
        ]
        scored = [
            *_human(pool, per_question // 2, random),
            *_rubric(question, strangers, per_question - per_question // 2, random),
        ]
        for number, (source, answer, score) in enumerate(scored):
            examples.append(
                Example(
                    group_id=f"{question.exam_id}/{question.question_id}/{number}",
                    attack_type=source,
                    prompt=grading_prompt(question, answer, justify=justify),
                    target=f"{ANSWER_CUE} {format_score(score)}",
                )
            )
    return examples


def _human(
    pool: Sequence[ExamItem], count: int, random: Random
) -> Iterator[tuple[str, str, float]]:
    classes: dict[float, list[str]] = {}
    for item in pool:
        if item.human_scores:
            mean = sum(human.score for human in item.human_scores) / len(item.human_scores)
            classes.setdefault(_on_scale(mean, item.question), []).append(item.answer.text)
    for number in range(count if classes else 0):
        score = sorted(classes)[number % len(classes)]
        yield HUMAN, random.choice(classes[score]), score


def _rubric(
    question: Question, strangers: Sequence[str], count: int, random: Random
) -> Iterator[tuple[str, str, float]]:
    scale = question.scale
    for number in range(count):
        kind = number % 8
        if kind == 0:
            yield RUBRIC, question.gold_answer, scale.max_points
        elif kind in (1, 2) and strangers:
            yield RUBRIC, random.choice(strangers), scale.min_score
        elif kind == 3:
            yield RUBRIC, random.choice(_NOTHING), scale.min_score
        else:
            points = list(question.gold_points)
            chosen = random.sample(points, random.randint(min(1, len(points)), len(points)))
            weight = float(sum(point.weight for point in chosen))
            yield RUBRIC, " ".join(point.text for point in chosen), scale.clamp(weight)


def _on_scale(score: float, question: Question) -> float:
    """The nearest valid score; halves are rounded up."""
    step = question.scale.step
    return question.scale.clamp(math.floor(score / step + 0.5) * step)
