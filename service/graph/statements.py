"""How each kind of record becomes nodes and relationships: idempotent MERGE by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from service.exam import Question
from service.judgement import Judgement
from service.records import Inclusion, Position, Rating, Record, Run, Submission

Row = dict[str, Any]

_ROWS_PER_STATEMENT = 500

# A record may arrive before the one that describes its neighbour, so every statement merges both
# ends of a relationship; the neighbour's own record fills in the rest.
_MERGE_ANSWER = """
MERGE (exam:Exam {exam_id: row.exam_id})
MERGE (question:Question {key: row.question_key})
SET question.exam_id = row.exam_id, question.question_id = row.question_id
MERGE (student:Student {key: row.student_key})
SET student.exam_id = row.exam_id, student.student_id = row.student_id
MERGE (answer:Answer {key: row.answer_key})
SET answer.exam_id = row.exam_id, answer.answer_id = row.answer_id
MERGE (exam)-[:HAS_QUESTION]->(question)
MERGE (answer)-[:ANSWERS]->(question)
MERGE (student)-[:GAVE]->(answer)
"""

_MERGE_QUESTION = """
UNWIND $rows AS row
MERGE (course:Course {name: row.domain})
MERGE (exam:Exam {exam_id: row.exam_id})
MERGE (question:Question {key: row.key})
SET question += row.properties
MERGE (course)-[:HAS_EXAM]->(exam)
MERGE (exam)-[:HAS_QUESTION]->(question)
"""

_MERGE_SUBMISSION = f"""
UNWIND $rows AS row
{_MERGE_ANSWER}
MERGE (submission:Submission {{submission_id: row.key}})
SET submission += row.properties
MERGE (submission)-[:OF]->(answer)
"""

_MERGE_RATING = f"""
UNWIND $rows AS row
{_MERGE_ANSWER}
MERGE (score:HumanScore {{key: row.key}})
SET score += row.properties
MERGE (score)-[:SCORES]->(answer)
"""

_MERGE_RUN = """
UNWIND $rows AS row
MERGE (run:Run {run_id: row.key})
SET run += row.properties
"""

_MERGE_JUDGEMENT = """
UNWIND $rows AS row
MERGE (submission:Submission {submission_id: row.submission_id})
MERGE (judgement:Judgement {judgement_id: row.key})
SET judgement += row.properties
MERGE (judgement)-[:JUDGES]->(submission)
FOREACH (judgement_id IN row.based_on |
  MERGE (filter:Judgement {judgement_id: judgement_id})
  MERGE (judgement)-[:BASED_ON]->(filter)
)
"""

_MERGE_INCLUSION = """
UNWIND $rows AS row
MERGE (run:Run {run_id: row.run_id})
MERGE (judgement:Judgement {judgement_id: row.key})
MERGE (run)-[:INCLUDES]->(judgement)
"""

_MERGE_POSITION = """
UNWIND $rows AS row
MERGE (ledger:Ledger {ledger_id: row.key})
SET ledger.seq = row.seq
"""


def node_key(*ids: str) -> str:
    """`exam/q1`: one string for ids that count within their exam; no two lists share one."""
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in ids)


def statements(records: Sequence[Record | Position]) -> Iterator[tuple[str, list[Row]]]:
    """Cypher statements with their `$rows`, in the records' order.

    Neighbours of one type share a statement. Their rows are sorted by key, so that two writers
    take locks in the same order; records of equal key keep theirs, and the last one wins.
    """
    for kind, group in groupby(records, key=type):
        writer = _WRITERS[kind]
        rows = sorted((writer.row(record) for record in group), key=itemgetter("key"))
        for first in range(0, len(rows), _ROWS_PER_STATEMENT):
            yield writer.cypher, rows[first : first + _ROWS_PER_STATEMENT]


def _question_row(question: Question) -> Row:
    return {
        "key": node_key(question.exam_id, question.question_id),
        "domain": question.domain,
        "exam_id": question.exam_id,
        "properties": {
            "exam_id": question.exam_id,
            "question_id": question.question_id,
            "text": question.text,
            "gold_answer": question.gold_answer,
            "rubric": question.rubric,
            "gold_type": question.gold_type,
            "gold_point_texts": [criterion.text for criterion in question.gold_points],
            "gold_point_weights": [criterion.weight for criterion in question.gold_points],
            "banned_misconceptions": list(question.banned_misconceptions),
            "min_score": question.scale.min_score,
            "max_points": question.scale.max_points,
            "step": question.scale.step,
        },
    }


def _answer_keys(record: Submission | Rating) -> Row:
    return {
        "exam_id": record.exam_id,
        "question_key": node_key(record.exam_id, record.question_id),
        "question_id": record.question_id,
        "student_key": node_key(record.exam_id, record.student_id),
        "student_id": record.student_id,
        "answer_key": node_key(record.exam_id, record.answer_id),
        "answer_id": record.answer_id,
    }


def _submission_row(submission: Submission) -> Row:
    return {
        "key": submission.submission_id,
        **_answer_keys(submission),
        "properties": {
            "exam_id": submission.exam_id,
            "question_id": submission.question_id,
            "answer_id": submission.answer_id,
            "student_id": submission.student_id,
            "attack_type": submission.attack_type,
            "text": submission.text,
            "received_at": submission.received_at.astimezone(UTC),
        },
    }


def _rating_row(rating: Rating) -> Row:
    return {
        "key": node_key(rating.exam_id, rating.answer_id, rating.rater),
        **_answer_keys(rating),
        "properties": {
            "exam_id": rating.exam_id,
            "answer_id": rating.answer_id,
            "rater": rating.rater,
            "score": float(rating.score),
        },
    }


def _run_row(run: Run) -> Row:
    return {
        "key": run.run_id,
        "properties": {
            "kind": run.kind.value,
            "pipeline": run.pipeline,
            "started_at": run.started_at.astimezone(UTC),
        },
    }


def _judgement_row(judgement: Judgement) -> Row:
    probabilities = judgement.score_probabilities
    removed = judgement.removed_spans
    return {
        "key": judgement.judgement_id,
        "submission_id": judgement.submission_id,
        "based_on": [judgement.based_on] if judgement.based_on else [],
        "properties": {
            "task_type": judgement.stage.task_type,
            "stage": judgement.stage.value,
            "pipeline_variant": judgement.stage.pipeline_variant,
            "attack_type": judgement.attack_type,
            "student_id": judgement.student_id,
            "answer_id": judgement.answer_id,
            "question_id": judgement.question_id,
            "exam_id": judgement.exam_id,
            "prompt": judgement.prompt,
            "raw_output": judgement.raw_output,
            "predicted_score": judgement.predicted_score,
            "raw_score": judgement.raw_score,
            "score_source": judgement.score_source and judgement.score_source.value,
            "expected_score": judgement.expected_score,
            "probability_scores": probabilities and [float(score) for score in probabilities],
            "probabilities": probabilities and list(probabilities.values()),
            "max_points": judgement.scale.max_points,
            "min_score": judgement.scale.min_score,
            "finish_reason": judgement.finish_reason.value,
            "model_fingerprint": judgement.model_fingerprint,
            "prompt_version": judgement.prompt_version,
            "decoding": judgement.decoding,
            "created_at": judgement.created_at.astimezone(UTC),
            "latency_ms": judgement.latency_ms,
            "justification": judgement.justification,
            "reused_from": judgement.reused_from,
            "cleaned_answer": judgement.cleaned_answer,
            "filter_stable": judgement.filter_stable,
            "removed_starts": [span.start for span in removed],
            "removed_ends": [span.end for span in removed],
            "removed_texts": [span.text for span in removed],
            "removed_confidences": [span.confidence for span in removed],
        },
    }


def _inclusion_row(inclusion: Inclusion) -> Row:
    return {"key": inclusion.judgement_id, "run_id": inclusion.run_id}


def _position_row(position: Position) -> Row:
    return {"key": position.ledger_id, "seq": position.seq}


class _Writer(NamedTuple):
    cypher: str
    row: Callable[[Any], Row]


_WRITERS: Mapping[type, _Writer] = {
    Question: _Writer(_MERGE_QUESTION, _question_row),
    Submission: _Writer(_MERGE_SUBMISSION, _submission_row),
    Rating: _Writer(_MERGE_RATING, _rating_row),
    Run: _Writer(_MERGE_RUN, _run_row),
    Judgement: _Writer(_MERGE_JUDGEMENT, _judgement_row),
    Inclusion: _Writer(_MERGE_INCLUSION, _inclusion_row),
    Position: _Writer(_MERGE_POSITION, _position_row),
}
