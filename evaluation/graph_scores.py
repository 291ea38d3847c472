"""The scores of an evaluation as the graph holds them, without exam files or `scores.jsonl`.

A text that the model could not take has no Judgement, so an answer none of whose variants was
graded is not there at all; one of which any was counts its other variants as missing. Nor does the
graph hold what people said about the dimensions of a rubric.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluation.evaluated import Evaluated
from evaluation.pipelines import pipeline_named
from evaluation.scores import ScoreRow
from evaluation.style import styles
from filter_training.attacks import CLEAN
from service.errors import InputError
from service.exam import Criterion, HumanScore, Question, ScoreScale
from service.graph import GraphStore

_RUNS = """
MATCH (run:Run {kind: 'evaluation'}) WHERE run.run_id STARTS WITH $prefix
RETURN run.run_id, run.pipeline ORDER BY run.run_id
"""
_JUDGEMENTS = """
MATCH (:Run {run_id: $run_id})-[:INCLUDES]->(judgement:Judgement {stage: 'filtered'})
MATCH (judgement)-[:BASED_ON]->(filter:Judgement)
MATCH (judgement)-[:JUDGES]->(submission:Submission)
RETURN judgement.exam_id, judgement.question_id, judgement.answer_id, judgement.student_id,
       judgement.attack_type, judgement.predicted_score, judgement.expected_score,
       filter.removed_starts, filter.removed_ends, submission.text
"""
_QUESTIONS = """
MATCH (course:Course)-[:HAS_EXAM]->(exam:Exam)-[:HAS_QUESTION]->(question:Question)
WHERE exam.exam_id IN $exams
RETURN question.exam_id, question.question_id, course.name, question.text, question.gold_answer,
       question.rubric, question.gold_type, question.gold_point_texts, question.gold_point_weights,
       question.banned_misconceptions, question.min_score, question.max_points, question.step
"""
_HUMAN_SCORES = """
MATCH (score:HumanScore) WHERE score.exam_id IN $exams
RETURN score.exam_id, score.answer_id, score.rater, score.score ORDER BY score.rater
"""


def read_scores(store: GraphStore, run_id: str) -> Evaluated:
    """The scores of the evaluation whose `run.json` has this run_id.

    Raises:
        InputError: the graph has no such evaluation.
        GraphError: the graph cannot be asked.
    """
    runs = [(run, pipeline) for run, pipeline in store.query(_RUNS, {"prefix": f"{run_id}/"}).rows]
    judged = [
        _Judged(pipeline, *row)
        for run, pipeline in runs
        for row in store.query(_JUDGEMENTS, {"run_id": run}).rows
    ]
    if not judged:
        raise InputError(f"the graph has no evaluation {run_id}; run.json names it as run_id")
    exams = {"exams": sorted({one.exam_id for one in judged})}
    questions = {
        (question.exam_id, question.question_id): question
        for question in (_question(*row) for row in store.query(_QUESTIONS, exams).rows)
    }
    human: dict[tuple[str, str], list[HumanScore]] = defaultdict(list)
    for exam_id, answer_id, rater, score in store.query(_HUMAN_SCORES, exams).rows:
        human[exam_id, answer_id].append(HumanScore(rater, score))
    texts = {(one.exam_id, one.answer_id, one.attack_type): one.text for one in judged}
    return Evaluated(
        pipelines=tuple(name for _, name in runs),
        rows=[
            one.row(
                questions[one.exam_id, one.question_id], human[one.exam_id, one.answer_id], texts
            )
            for one in judged
        ],
        questions=list(questions.values()),
        texts=texts,
    )


class _Judged(NamedTuple):
    """What a pipeline made of a text."""

    pipeline: str
    exam_id: str
    question_id: str
    answer_id: str
    student_id: str
    attack_type: str
    score: float | None
    expected_score: float | None
    removed_starts: Sequence[int]
    removed_ends: Sequence[int]
    text: str

    def row(
        self,
        question: Question,
        human_scores: Sequence[HumanScore],
        texts: Mapping[tuple[str, str, str], str],
    ) -> ScoreRow:
        clean = texts.get((self.exam_id, self.answer_id, CLEAN))
        return ScoreRow(
            exam_id=self.exam_id,
            question_id=self.question_id,
            answer_id=self.answer_id,
            student_id=self.student_id,
            gold_type=question.gold_type,
            attack_type=self.attack_type,
            pipeline_variant=pipeline_named(self.pipeline).variant,
            score=self.score,
            expected_score=self.expected_score,
            scale=question.scale,
            human_scores=tuple(human_scores),
            removed=tuple(zip(self.removed_starts, self.removed_ends, strict=True)),
            styles=() if clean is None else styles(clean),
        )


def _question(
    exam_id: str,
    question_id: str,
    domain: str,
    text: str,
    gold_answer: str,
    rubric: str,
    gold_type: str,
    point_texts: Sequence[str],
    point_weights: Sequence[int],
    misconceptions: Sequence[str],
    min_score: float,
    max_points: float,
    step: float,
) -> Question:
    return Question(
        exam_id=exam_id,
        question_id=question_id,
        domain=domain,
        text=text,
        gold_answer=gold_answer,
        rubric=rubric,
        gold_type=gold_type,
        gold_points=tuple(map(Criterion, point_texts, point_weights)),
        banned_misconceptions=tuple(misconceptions),
        scale=ScoreScale(min_score, max_points, step),
    )
