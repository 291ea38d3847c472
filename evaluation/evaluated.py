"""What an evaluation came to, wherever it is read from: the folder of a run, or the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.pipelines import pipeline_named
from evaluation.run_journal import ScoreLine
from evaluation.scores import ScoreRow
from evaluation.style import styles
from evaluation.variants import VariantPlan
from service.exam import ExamItem, Question

TextKey = tuple[str, str, str]
"""exam_id, answer_id and attack_type of a text."""


@dataclass(frozen=True)
class Evaluated:
    """Scores, and what they are of.

    Attributes:
        pipelines: names, in the order in which they are compared.
        rows: every score.
        questions: those of the exams.
        texts: every variant that was graded.
    """

    pipelines: tuple[str, ...]
    rows: Sequence[ScoreRow]
    questions: Sequence[Question]
    texts: Mapping[TextKey, str]


def of_run(
    pipelines: Sequence[str],
    lines: Iterable[ScoreLine],
    items: Sequence[ExamItem],
    plan: VariantPlan,
) -> Evaluated:
    """Scores of a run beside what the exam says about their answers."""
    of_answer = {(item.question.exam_id, item.answer.answer_id): item for item in items}
    written = {key: styles(item.answer.text) for key, item in of_answer.items()}
    return Evaluated(
        pipelines=tuple(pipelines),
        rows=[_row(line, of_answer[key], written[key]) for line in lines for key in [_key(line)]],
        questions=[item.question for item in items],
        texts={
            (*key, variant.attack_type): variant.text
            for key, item in of_answer.items()
            for variant in plan.variants(item)
        },
    )


def _key(line: ScoreLine) -> tuple[str, str]:
    return line.exam_id, line.answer_id


def _row(line: ScoreLine, item: ExamItem, written: tuple[str, ...]) -> ScoreRow:
    return ScoreRow(
        exam_id=line.exam_id,
        question_id=line.question_id,
        answer_id=line.answer_id,
        student_id=line.student_id,
        gold_type=item.question.gold_type,
        attack_type=line.attack_type,
        pipeline_variant=pipeline_named(line.pipeline).variant,
        score=line.score,
        expected_score=line.expected_score,
        scale=item.question.scale,
        human_scores=item.human_scores,
        removed=line.removed if line.judgement_id else None,
        styles=written,
        dimensions=item.dimensions,
    )
