"""Rows of scores that tests make up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.scores import ScoreRow
from filter_training.attacks import CLEAN, PAPER_ATTACKS
from service.exam import HumanScore, ScoreScale

TEN = ScoreScale(1, 10)
VARIANTS = (CLEAN, *PAPER_ATTACKS)


def answer_rows(
    answer_id: str,
    scores: Mapping[str, Sequence[float | None]],
    *,
    human: Sequence[float] = (),
    exam_id: str = "exam",
    question_id: str = "q1",
    student_id: str | None = None,
    gold_type: str = "factual",
    scale: ScoreScale = TEN,
) -> list[ScoreRow]:
    """One answer's rows: pipeline → its scores of the five variants, clean first."""
    return [
        ScoreRow(
            exam_id=exam_id,
            question_id=question_id,
            answer_id=answer_id,
            student_id=student_id or f"student of {answer_id}",
            gold_type=gold_type,
            attack_type=variant,
            pipeline_variant=pipeline,
            score=score,
            expected_score=score,
            scale=scale,
            human_scores=tuple(
                HumanScore(f"rater_{number}", given) for number, given in enumerate(human, start=1)
            ),
        )
        for pipeline, given in scores.items()
        for variant, score in zip(VARIANTS, given, strict=True)
    ]


def random_rows(answers: int, *, seed: int, exam_id: str = "exam") -> list[ScoreRow]:
    """Two pipelines, four questions, both gold types; a score in ten is missing."""
    random = np.random.default_rng(seed)

    def scores() -> list[float | None]:
        drawn = random.integers(1, 11, size=len(VARIANTS)).tolist()
        return [float(score) if random.random() > 0.1 else None for score in drawn]

    return [
        row
        for number in range(answers)
        for row in answer_rows(
            f"a{number}",
            {"baseline": scores(), "filtered": scores()},
            human=random.integers(1, 11, size=2).astype(float).tolist(),
            exam_id=exam_id,
            question_id=f"q{number % 4}",
            student_id=f"s{number // 4}",
            gold_type="factual" if number % 4 < 3 else "argumentative",
        )
    ]
