"""How each kind of record becomes nodes and relationships: idempotent MERGE by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from service.exam import Question
from service.judgement import Judgement
from service.records import (
    Erasure,
    GradeOfRecord,
    Inclusion,
    Position,
    Publication,
    Rating,
    Record,
    Run,
    Submission,
)

Row = dict[str, Any]

_ROWS_PER_STATEMENT = 500

# Each of these writes properties that no other kind of them writes, and reads none.
_SWAPPABLE = (Question, Submission, Rating, Run, Judgement, Inclusion)

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
FOREACH (submission_id IN row.previous |
  MERGE (previous:Submission {{submission_id: submission_id}})
  MERGE (submission)-[:PREVIOUS]->(previous)
)
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

_LABEL_STAGES = """
UNWIND $rows AS row
MATCH (judgement:Judgement {judgement_id: row.key})
FOREACH (_ IN CASE row.properties.stage WHEN 'baseline' THEN [1] ELSE [] END |
  SET judgement:Baseline
)
FOREACH (_ IN CASE row.properties.stage WHEN 'filter' THEN [1] ELSE [] END |
  SET judgement:Filter
)
FOREACH (_ IN CASE row.properties.stage WHEN 'filtered' THEN [1] ELSE [] END |
  SET judgement:Filtered
)
"""

_MERGE_INCLUSION = """
UNWIND $rows AS row
MERGE (run:Run {run_id: row.run_id})
MERGE (judgement:Judgement {judgement_id: row.key})
MERGE (run)-[:INCLUDES]->(judgement)
"""

_MERGE_PUBLICATION = """
UNWIND $rows AS row
MERGE (publication:Publication {publication_id: row.key})
SET publication += row.properties
MERGE (run:Run {run_id: row.run_id})
MERGE (publication)-[:OF_RUN]->(run)
"""

# No publication has two grades of one answer, and its own record parts its rows from the next
# publication's: an answer stands in a statement once.
_MERGE_GRADE_OF_RECORD = """
UNWIND $rows AS row
MERGE (answer:Answer {key: row.key})
MERGE (judgement:Judgement {judgement_id: row.judgement_id})
MERGE (publication:Publication {publication_id: row.publication_id})
MERGE (publication)-[:PUBLISHES]->(judgement)
WITH answer, judgement
OPTIONAL MATCH (answer)-[earlier:GRADE_OF_RECORD]->(:Judgement)
DELETE earlier
WITH DISTINCT answer, judgement
MERGE (answer)-[:GRADE_OF_RECORD]->(judgement)
"""

_ERASE = """
UNWIND $rows AS row
MATCH (:Answer {key: row.key})<-[:OF]-(submission:Submission)
REMOVE submission.text
SET submission.erased = true
WITH submission
MATCH (submission)<-[:JUDGES]-(judgement:Judgement)
REMOVE judgement.prompt, judgement.raw_output, judgement.justification,
       judgement.cleaned_answer, judgement.raw_score
SET judgement.erased = true, judgement.removed_texts = null
"""

_MERGE_POSITION = """
UNWIND $rows AS row
MERGE (ledger:Ledger {ledger_id: row.key})
SET ledger.seq = row.seq, ledger.head = row.head
"""


def node_key(*ids: str) -> str:
    """`exam/q1`: one string for ids that count within their exam; no two lists share one."""
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in ids)


def statements(
    records: Sequence[Record | Position], *, stage_labels: bool
) -> Iterator[tuple[str, list[Row]]]:
    """Cypher statements with their `$rows`, in the records' order.

    With `stage_labels`, Judgements also get a label for their stage: `Baseline`, `Filter` or
    `Filtered`. Nothing but the colours of Neo4j Browser goes by these labels.

    Records of one type share a statement where no other's order matters between them. Their rows
    are sorted by key, so that two writers take locks in the same order; records of equal key keep
    theirs, and the last one wins.
    """
    for kind, group in groupby(_by_type(records), key=type):
        writer = _WRITERS[kind]
        rows = sorted((writer.row(record) for record in group), key=itemgetter("key"))
        for first in range(0, len(rows), _ROWS_PER_STATEMENT):
            portion = rows[first : first + _ROWS_PER_STATEMENT]
            yield writer.cypher, portion
            if stage_labels and kind is Judgement:
                yield _LABEL_STAGES, portion


def _by_type(records: Sequence[Record | Position]) -> Iterator[Record | Position]:
    """The records, those of one type together wherever the graph is the same for it."""
    for may_swap, neighbours in groupby(records, key=lambda record: type(record) in _SWAPPABLE):
        if may_swap:
            yield from sorted(neighbours, key=lambda record: _SWAPPABLE.index(type(record)))
        else:
            yield from neighbours


def row_of(record: Record | Position) -> Row:
    """What the record's statement writes: `key`, `properties`, and the keys of neighbours."""
    return _WRITERS[type(record)].row(record)


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
        "previous": [submission.previous] if submission.previous else [],
        "properties": {
            "exam_id": submission.exam_id,
            "question_id": submission.question_id,
            "answer_id": submission.answer_id,
            "student_id": submission.student_id,
            "attack_type": submission.attack_type,
            "text": None if submission.erased else submission.text,
            "received_at": submission.received_at.astimezone(UTC),
            "erased": submission.erased or None,
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


_ERASABLE = (
    "prompt",
    "raw_output",
    "justification",
    "cleaned_answer",
    "raw_score",
    "removed_texts",
)


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
            **(dict.fromkeys(_ERASABLE) | {"erased": True} if judgement.erased else {}),
        },
    }


def _inclusion_row(inclusion: Inclusion) -> Row:
    return {"key": inclusion.judgement_id, "run_id": inclusion.run_id}


def _publication_row(publication: Publication) -> Row:
    return {
        "key": publication.publication_id,
        "run_id": publication.run_id,
        "properties": {
            "run_id": publication.run_id,
            "published_by": publication.published_by,
            "reason": publication.reason,
            "published_at": publication.published_at.astimezone(UTC),
        },
    }


def _grade_of_record_row(grade: GradeOfRecord) -> Row:
    return {
        "key": node_key(grade.exam_id, grade.answer_id),
        "judgement_id": grade.judgement_id,
        "publication_id": grade.publication_id,
    }


def _erasure_row(erasure: Erasure) -> Row:
    return {"key": node_key(erasure.exam_id, erasure.answer_id)}


def _position_row(position: Position) -> Row:
    return {"key": position.ledger_id, "seq": position.seq, "head": position.head}


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
    Publication: _Writer(_MERGE_PUBLICATION, _publication_row),
    GradeOfRecord: _Writer(_MERGE_GRADE_OF_RECORD, _grade_of_record_row),
    Erasure: _Writer(_ERASE, _erasure_row),
    Position: _Writer(_MERGE_POSITION, _position_row),
}
