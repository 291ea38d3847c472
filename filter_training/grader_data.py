"""Examples for the grader of a model that cannot grade zero-shot.

Half of them carry human scores, drawn evenly over the score classes as far as distinct answers
last, since real exams hold mostly full marks. The other half is made from the rubric, where the
right score is known: the reference solution, also told in another way, chosen subsets of the
weighted points, misconceptions, answers to other questions, and answers that say nothing.
Questions of our own, which no human scored, add rubrics of other courses.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from filter_training.attacks import FAMILIES, make_attack
from filter_training.graded import GradedExample, graded_example
from filter_training.honest import benign_variant
from filter_training.marked import Part
from filter_training.rubrics import Rubric, abridged, own_rubrics, subsets, whole
from filter_training.sampling import by_question
from service.exam import ExamItem, Question

HUMAN = "human_score"
"""attack_type of an example whose score is the raters' mean."""
RUBRIC = "rubric_score"
"""attack_type of an example whose score follows from the rubric."""

_NOTHING = (
    "",
    "-",
    "?",
    "n/a",
    "I don't know.",
    "No idea, sorry.",
    "I did not learn this.",
    "I have no answer to this question.",
    "Sorry, I could not remember that part of the lecture.",
    "I ran out of time here.",
)
_LONG_ENOUGH = 20
"""Characters that an answer has which says something of its own question."""


@dataclass(frozen=True)
class _Sample:
    source: str
    answer: str
    score: float


def grader_examples(
    items: Sequence[ExamItem],
    *,
    per_question: int,
    per_own_question: int = 0,
    attacked_share: float = 0.0,
    seed: int,
) -> list[GradedExample]:
    """Examples for each question, half with human and half with rubric scores.

    Each question is asked with its rubric as it stands and with a shorter reference solution.

    Args:
        items: answers with their human scores.
        per_question: at most so many examples for each question.
        per_own_question: so many examples for each question of our own, all with rubric scores.
        attacked_share: how many of the examples have a twin with an attack in it and the same
            score, 0 to 1; the others are the same whatever it is.
        seed: seed of all draws.
    """
    random, attacks = Random(seed), _Attacks(attacked_share, seed)
    pools = by_question(items)
    examples: list[GradedExample] = []
    for key, pool in sorted(pools.items()):
        question = pool[0].question
        strangers = [
            text
            for other, others in sorted(pools.items())
            if other != key
            for text in [others[0].question.gold_answer, *(item.answer.text for item in others)]
            if len(text) > _LONG_ENOUGH and text != question.gold_answer
        ]
        half = per_question // 2
        human = list(_human(pool, half, random))
        for number, rubric in enumerate(rubrics := (whole(question), abridged(question))):
            samples = [
                *human[number :: len(rubrics)],
                *_rubric(rubric, strangers, (per_question - half) // len(rubrics), random),
            ]
            examples += attacks.on(rubric.question, samples)
    for rubric, strangers in own_rubrics(random) if per_own_question else ():
        samples = list(_rubric(rubric, strangers, per_own_question, random))
        examples += attacks.on(rubric.question, samples)
    return examples


class _Attacks:
    """Makes examples of samples, and attacked twins of some, which earn what the answer earns."""

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._random = Random(repr((seed, "attacks")))

    def on(self, question: Question, samples: Sequence[_Sample]) -> Iterator[GradedExample]:
        """The examples; a twin stands behind its own and is in its group."""
        for sample in samples:
            yield _example(question, sample, sample)
            if self._random.random() < self._share:
                family = self._random.choice(tuple(FAMILIES))
                attack = make_attack(family, question, sample.answer, self._random, Part.SEEN)
                twin = _Sample(family, attack.marked.text, sample.score)
                yield _example(question, twin, sample)


def _example(question: Question, sample: _Sample, origin: _Sample) -> GradedExample:
    return graded_example(
        question,
        sample.answer,
        sample.score,
        group_id=_group(question, origin.answer),
        attack_type=sample.source,
    )


def _group(question: Question, answer: str) -> str:
    """Equal answers to a question never fall into different splits."""
    digest = hashlib.sha256(answer.encode()).hexdigest()[:16]
    return f"{question.exam_id}/{question.question_id}/{digest}"


def _human(pool: Sequence[ExamItem], count: int, random: Random) -> Iterator[_Sample]:
    classes: dict[int, list[_Sample]] = {}
    for item in pool:
        if item.human_scores:
            mean = sum(human.score for human in item.human_scores) / len(item.human_scores)
            classes.setdefault(math.floor(mean + 0.5), []).append(
                _Sample(HUMAN, item.answer.text, mean)
            )
    for samples in classes.values():
        random.shuffle(samples)
    while classes and count:
        for score in sorted(classes):
            if count:
                yield classes[score].pop()
                count -= 1
            if not classes[score]:
                del classes[score]


def _rubric(
    rubric: Rubric, strangers: Sequence[str], count: int, random: Random
) -> Iterator[_Sample]:
    question = rubric.question
    scale = question.scale
    for number in range(count):
        kind = number % 16
        if kind == 0 and question.gold_answer:
            yield _Sample(RUBRIC, question.gold_answer, scale.max_points)
        elif kind == 8 and question.gold_answer:
            retold = benign_variant(question, question.gold_answer, random, Part.SEEN)
            yield _Sample(RUBRIC, retold.text, scale.max_points)
        elif kind in (1, 2, 9, 10) and strangers:
            yield _Sample(RUBRIC, random.choice(strangers), scale.min_score)
        elif kind == 5:
            yield _Sample(RUBRIC, random.choice(_NOTHING), scale.min_score)
        elif kind == 6 and question.banned_misconceptions:
            misconception = random.choice(question.banned_misconceptions)
            yield _Sample(RUBRIC, misconception, scale.min_score)
        else:
            yield _points(rubric, strangers, random)


def _points(rubric: Rubric, strangers: Sequence[str], random: Random) -> _Sample:
    """Some of the points, with a score near a wanted one; now and then with words around them."""
    scale = rubric.question.scale
    wanted = random.uniform(scale.min_score, scale.max_points)
    chosen = min(
        subsets(rubric.question.gold_points),
        key=lambda points: abs(rubric.earned(points) - wanted) + random.uniform(0, 1),
    )
    texts = [point.text.strip() for point in chosen]
    random.shuffle(texts)
    style = random.random()
    if style < 0.5:
        answer = " ".join(texts)
    elif style < 0.75:
        answer = "\n".join(f"- {text}" for text in texts)
    else:
        answer = ", and ".join(text.rstrip(".") for text in texts).lower()
    if strangers and random.random() < 0.2:
        # What answers another question earns nothing here and costs nothing.
        filler = random.choice(strangers).split(". ")[0]
        answer = f"{answer} {filler}" if random.random() < 0.5 else f"{filler}. {answer}"
    return _Sample(RUBRIC, answer, rubric.earned(chosen))
