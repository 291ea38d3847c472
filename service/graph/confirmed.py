"""Removed spans that a person confirmed to be an attack.

A person confirms by setting `spans_confirmed_by` on the filter Judgement:

    MATCH (j:Judgement {judgement_id: '…'}) SET j.spans_confirmed_by = 'name'

Nothing here ever writes that property, and writing the Judgement again leaves it as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from service.exam import Criterion, Question, ScoreScale
from service.graph.store import GraphStore

_CONFIRMED = """
MATCH (filter:Judgement {stage: 'filter'})-[:JUDGES]->(submission:Submission)
      -[:OF]->(:Answer)-[:ANSWERS]->(question:Question)
WHERE filter.spans_confirmed_by IS NOT NULL AND size(filter.removed_starts) > 0
  AND submission.erased IS NULL
MATCH (course:Course)-[:HAS_EXAM]->(:Exam)-[:HAS_QUESTION]->(question)
WITH filter, submission, question, min(course.name) AS domain
RETURN properties(question) AS question, domain, submission.text AS text,
       filter.removed_starts AS starts, filter.removed_ends AS ends
ORDER BY filter.judgement_id
"""


@dataclass(frozen=True)
class ConfirmedSpans:
    """An answer as received, and the [start, end) spans in it that are an attack."""

    question: Question
    text: str
    spans: tuple[tuple[int, int], ...]


def confirmed_spans(store: GraphStore) -> list[ConfirmedSpans]:
    """All of them, in the order of their Judgements' ids.

    Raises:
        GraphError: the graph cannot be read.
    """
    return [
        ConfirmedSpans(_question(question, domain), text, tuple(zip(starts, ends, strict=True)))
        for question, domain, text, starts, ends in store.query(_CONFIRMED).rows
    ]


def _question(properties: dict[str, Any], domain: str) -> Question:
    return Question(
        exam_id=properties["exam_id"],
        question_id=properties["question_id"],
        domain=domain,
        text=properties["text"],
        gold_answer=properties["gold_answer"],
        rubric=properties["rubric"],
        gold_type=properties["gold_type"],
        gold_points=tuple(
            Criterion(text, weight)
            for text, weight in zip(
                properties["gold_point_texts"], properties["gold_point_weights"], strict=True
            )
        ),
        banned_misconceptions=tuple(properties["banned_misconceptions"]),
        scale=ScoreScale(properties["min_score"], properties["max_points"], properties["step"]),
    )
