"""Records as rows of the ledger and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from service.errors import InputError, LedgerDamagedError
from service.exam import Criterion, Question, ScoreScale
from service.judgement import FinishReason, Judgement, RemovedSpan, ScoreSource, Stage
from service.ledger import chain
from service.ledger.tables import insert, last_row
from service.records import (
    Erasure,
    GradeOfRecord,
    Inclusion,
    Publication,
    Rating,
    Record,
    Run,
    RunKind,
    Submission,
)

JUDGEMENTS = """
    SELECT judgement.*, exam_id, answer_id, question_id, student_id, attack_type
    FROM judgement
    JOIN submission USING (submission_id)
    JOIN answer USING (exam_id, answer_id)
"""


def add_question_version(
    connection: sqlite3.Connection, question: Question, *, registered: bool
) -> None:
    """Log `question` as the latest version of itself."""
    key = {"exam_id": question.exam_id, "question_id": question.question_id}
    insert(connection, "question", key)
    row = {
        **key,
        "registered": registered,
        "domain": question.domain,
        "text": question.text,
        "gold_answer": question.gold_answer,
        "rubric": question.rubric,
        "gold_type": question.gold_type,
        **_scale_row(question.scale),
    }
    insert(connection, "question_version", row)
    version = last_row(connection)
    connection.executemany(
        "INSERT INTO criterion VALUES (?, ?, ?, ?)",
        [
            (version, position, point.text, point.weight)
            for position, point in enumerate(question.gold_points)
        ],
    )
    connection.executemany(
        "INSERT INTO misconception VALUES (?, ?, ?)",
        [(version, position, text) for position, text in enumerate(question.banned_misconceptions)],
    )
    chain.append(connection, "question_version", version)


def registered_question(
    connection: sqlite3.Connection, exam_id: str, question_id: str
) -> Question | None:
    """The latest registered version of a question, if there is one."""
    return _latest(connection, f"{_LATEST} AND registered", exam_id, question_id)


def latest_question(
    connection: sqlite3.Connection, exam_id: str, question_id: str
) -> Question | None:
    """The latest version of a question, registered or not, if there is one."""
    return _latest(connection, _LATEST, exam_id, question_id)


def questions_of_exam(connection: sqlite3.Connection, exam_id: str) -> list[Question]:
    """The registered version of each question of an exam, in the order of registration."""
    versions = connection.execute(
        "SELECT max(row) FROM question_version WHERE exam_id = ? AND registered "
        "GROUP BY question_id ORDER BY min(row)",
        (exam_id,),
    )
    return [_question(connection, version) for (version,) in versions.fetchall()]


def latest_score(connection: sqlite3.Connection, rating: Rating) -> float | None:
    """The score that the rater of `rating` last gave to its answer."""
    row = connection.execute(
        "SELECT score FROM rating WHERE exam_id = ? AND answer_id = ? AND rater = ? "
        "ORDER BY row DESC LIMIT 1",
        (rating.exam_id, rating.answer_id, rating.rater),
    ).fetchone()
    return None if row is None else float(row["score"])


def rating_row(rating: Rating) -> dict[str, Any]:
    """The columns of table `rating`."""
    return {
        "exam_id": rating.exam_id,
        "answer_id": rating.answer_id,
        "rater": rating.rater,
        "score": rating.score,
    }


def run_row(run: Run) -> dict[str, Any]:
    """The columns of table `run`."""
    return {
        "run_id": run.run_id,
        "kind": run.kind,
        "pipeline": run.pipeline,
        "started_at": run.started_at.isoformat(),
    }


def add_submission(connection: sqlite3.Connection, submission: Submission, salt: bytes) -> bool:
    """Log a submission behind the one before it, unless it is there; True if it was added."""
    added = insert(
        connection,
        "submission",
        {
            "submission_id": submission.submission_id,
            "exam_id": submission.exam_id,
            "answer_id": submission.answer_id,
            "attack_type": submission.attack_type,
            "text": submission.text,
            "texts_hash": chain.texts_hash(salt, [submission.text]),
            "received_at": submission.received_at.isoformat(),
            "previous": _previous(connection, submission),
        },
    )
    if added:
        chain.append(connection, "submission", last_row(connection))
    return added


def add_judgement(connection: sqlite3.Connection, judgement: Judgement, salt: bytes) -> bool:
    """Log a Judgement with its removed spans, unless it is there; True if it was added."""
    odds = judgement.score_probabilities
    values = {
        "judgement_id": judgement.judgement_id,
        "submission_id": judgement.submission_id,
        "stage": judgement.stage,
        "prompt": judgement.prompt,
        "raw_output": judgement.raw_output,
        "justification": judgement.justification,
        "cleaned_answer": judgement.cleaned_answer,
        "finish_reason": judgement.finish_reason,
        **_scale_row(judgement.scale),
        "model_fingerprint": judgement.model_fingerprint,
        "prompt_version": judgement.prompt_version,
        "decoding": judgement.decoding,
        "created_at": judgement.created_at.isoformat(),
        "latency_ms": judgement.latency_ms,
        "predicted_score": judgement.predicted_score,
        "raw_score": judgement.raw_score,
        "score_source": judgement.score_source,
        "expected_score": judgement.expected_score,
        "score_probabilities": None if odds is None else json.dumps(dict(odds)),
        "filter_stable": judgement.filter_stable,
        "reused_from": judgement.reused_from,
        "based_on": judgement.based_on,
    }
    texts = [getattr(judgement, column) for column in chain.ERASABLE["judgement"]]
    texts += [span.text for span in judgement.removed_spans]
    if not insert(connection, "judgement", {**values, "texts_hash": chain.texts_hash(salt, texts)}):
        return False
    row = last_row(connection)
    connection.executemany(
        "INSERT INTO removed_span VALUES (?, ?, ?, ?, ?, ?)",
        [
            (judgement.judgement_id, position, span.start, span.end, span.text, span.confidence)
            for position, span in enumerate(judgement.removed_spans)
        ],
    )
    chain.append(connection, "judgement", row)
    return True


def add_result(connection: sqlite3.Connection, judgement: Judgement, raw: str) -> None:
    """Let a Judgement be found by its result, unless another one is; `raw` is what it is about."""
    key = judgement.result_key(raw)
    insert(connection, "result", {"key": key, "judgement_id": judgement.judgement_id})


def find_judgement(connection: sqlite3.Connection, judgement_id: str) -> Judgement:
    """The Judgement that another row points to.

    Raises:
        LedgerDamagedError: it is not there, or cannot be what was written.
    """
    row = connection.execute(f"{JUDGEMENTS} WHERE judgement_id = ?", (judgement_id,)).fetchone()
    with _legible(f"judgement {judgement_id}"):
        if row is None:
            raise LookupError("it is not there")
        return _judgement(connection, row)


def find_submission(connection: sqlite3.Connection, submission_id: str) -> Submission | None:
    """A text by its id, if there is one."""
    row = connection.execute(f"{_SUBMISSIONS} WHERE submission_id = ?", (submission_id,)).fetchone()
    return None if row is None else _read_submission(row)


def latest_submissions(
    connection: sqlite3.Connection, exam_id: str
) -> list[tuple[Question, Submission]]:
    """The latest text of each answer and variant that was not erased, with its question."""
    latest = connection.execute(
        f"{_SUBMISSIONS} WHERE submission.row IN (SELECT max(row) FROM submission "
        "WHERE exam_id = ? GROUP BY answer_id, attack_type) AND text IS NOT NULL "
        "ORDER BY submission.row",
        (exam_id,),
    )
    found = [_read_submission(row) for row in latest.fetchall()]
    questions = {
        question_id: registered_question(connection, exam_id, question_id)
        or latest_question(connection, exam_id, question_id)
        for question_id in {text.question_id for text in found}
    }
    return [
        (question, text) for text in found if (question := questions[text.question_id]) is not None
    ]


def unknown(connection: sqlite3.Connection, table: str, ids: Sequence[str]) -> list[str]:
    """Those of some ids that no row of a table has."""
    found = connection.execute(
        f"SELECT value FROM json_each(?) AS wanted WHERE NOT EXISTS "
        f"(SELECT 1 FROM {table} WHERE {table}_id = wanted.value)",
        (json.dumps(list(ids)),),
    )
    return [name for (name,) in found]


def _read_submission(row: sqlite3.Row) -> Submission:
    with _legible(f"submission {row['submission_id']}"):
        return _submission(row)


@contextmanager
def _legible(record: str) -> Iterator[None]:
    """Name a record whose values cannot be what was written."""
    try:
        yield
    except (ValueError, TypeError, LookupError, InputError) as error:
        raise LedgerDamagedError(
            f"{record} in the ledger is damaged ({error}); "
            "`steadyeval ledger verify` names all that is: docs/ledger.md says what to do"
        ) from error


def read_judgement(connection: sqlite3.Connection, row: sqlite3.Row) -> Judgement:
    """The Judgement of one row of `JUDGEMENTS`.

    Raises:
        LedgerDamagedError: it cannot be what was written.
    """
    with _legible(f"judgement {row['judgement_id']}"):
        return _judgement(connection, row)


def _judgement(connection: sqlite3.Connection, row: sqlite3.Row) -> Judgement:
    spans = connection.execute(
        "SELECT * FROM removed_span WHERE judgement_id = ? ORDER BY position",
        (row["judgement_id"],),
    )
    odds, source, stable = row["score_probabilities"], row["score_source"], row["filter_stable"]
    return Judgement(
        judgement_id=row["judgement_id"],
        stage=Stage(row["stage"]),
        exam_id=row["exam_id"],
        question_id=row["question_id"],
        answer_id=row["answer_id"],
        student_id=row["student_id"],
        submission_id=row["submission_id"],
        attack_type=row["attack_type"],
        prompt=row["prompt"] or "",
        raw_output=row["raw_output"] or "",
        finish_reason=FinishReason(row["finish_reason"]),
        scale=_scale(row),
        model_fingerprint=row["model_fingerprint"],
        prompt_version=row["prompt_version"],
        decoding=row["decoding"],
        created_at=datetime.fromisoformat(row["created_at"]),
        latency_ms=row["latency_ms"],
        predicted_score=row["predicted_score"],
        raw_score=row["raw_score"],
        score_source=None if source is None else ScoreSource(source),
        expected_score=row["expected_score"],
        score_probabilities=None if odds is None else json.loads(odds),
        justification=row["justification"],
        cleaned_answer=row["cleaned_answer"],
        removed_spans=tuple(
            RemovedSpan(
                span["start_offset"], span["end_offset"], span["text"] or "", span["confidence"]
            )
            for span in spans
        ),
        filter_stable=None if stable is None else bool(stable),
        reused_from=row["reused_from"],
        based_on=row["based_on"],
        erased=row["prompt"] is None,
    )


def read_record(connection: sqlite3.Connection, kind: str, row: int) -> Record:
    """The record that the log names by its table and row.

    Raises:
        LedgerDamagedError: it cannot be what was written.
    """
    with _legible(f"row {row} of {kind}"):
        return _record(connection, kind, row)


def _record(connection: sqlite3.Connection, kind: str, row: int) -> Record:
    match kind:
        case "question_version":
            return _question(connection, row)
        case "submission":
            return _submission(_one(connection, f"{_SUBMISSIONS} WHERE submission.row = ?", row))
        case "rating":
            return _rating(_one(connection, _RATING, row))
        case "run":
            return read_run(connection, row)
        case "judgement":
            found = _one(connection, f"{JUDGEMENTS} WHERE judgement.row = ?", row)
            return _judgement(connection, found)
        case "inclusion":
            found = _one(connection, "SELECT * FROM inclusion WHERE row = ?", row)
            return Inclusion(found["run_id"], found["judgement_id"])
        case "publication":
            return read_publication(
                _one(connection, "SELECT * FROM publication WHERE row = ?", row)
            )
        case "grade_of_record":
            found = _one(connection, "SELECT * FROM grade_of_record WHERE row = ?", row)
            return _grade_of_record(found)
        case "erasure":
            return _erasure(_one(connection, "SELECT * FROM erasure WHERE row = ?", row))
        case _:
            raise LookupError(f"there is no kind {kind}")


_RECORDS_OF_STUDENT = """
    WITH theirs AS (
        SELECT exam_id, answer_id FROM answer
        WHERE student_id = ? AND exam_id = coalesce(?, exam_id)
    )
    SELECT kind, row FROM log WHERE
           kind = 'judgement' AND row IN (
               SELECT judgement.row FROM judgement JOIN submission USING (submission_id)
               JOIN theirs USING (exam_id, answer_id))
        OR kind = 'submission' AND row IN (
               SELECT row FROM submission JOIN theirs USING (exam_id, answer_id))
        OR kind = 'rating' AND row IN (
               SELECT row FROM rating JOIN theirs USING (exam_id, answer_id))
        OR kind = 'grade_of_record' AND row IN (
               SELECT row FROM grade_of_record JOIN theirs USING (exam_id, answer_id))
        OR kind = 'erasure' AND row IN (
               SELECT row FROM erasure JOIN theirs USING (exam_id, answer_id))
    ORDER BY seq
"""


def records_of_student(
    connection: sqlite3.Connection, student_id: str, exam_id: str | None
) -> list[Record]:
    """What the log has of a student's answers, in one exam or in all."""
    found = connection.execute(_RECORDS_OF_STUDENT, (student_id, exam_id)).fetchall()
    return [read_record(connection, kind, row) for kind, row in found]


_SUBMISSIONS = "SELECT * FROM submission JOIN answer USING (exam_id, answer_id)"
_RATING = "SELECT * FROM rating JOIN answer USING (exam_id, answer_id) WHERE rating.row = ?"


_LATEST = "SELECT max(row) FROM question_version WHERE exam_id = ? AND question_id = ?"


def _latest(
    connection: sqlite3.Connection, query: str, exam_id: str, question_id: str
) -> Question | None:
    (version,) = connection.execute(query, (exam_id, question_id)).fetchone()
    return None if version is None else _question(connection, version)


def _one(connection: sqlite3.Connection, query: str, row: int) -> sqlite3.Row:
    found: sqlite3.Row | None = connection.execute(query, (row,)).fetchone()
    if found is None:
        raise LookupError("it is not there")
    return found


def _question(connection: sqlite3.Connection, version: int) -> Question:
    row = _one(connection, "SELECT * FROM question_version WHERE row = ?", version)
    points = connection.execute(
        "SELECT text, weight FROM criterion WHERE version = ? ORDER BY position", (version,)
    )
    banned = connection.execute(
        "SELECT text FROM misconception WHERE version = ? ORDER BY position", (version,)
    )
    return Question(
        exam_id=row["exam_id"],
        question_id=row["question_id"],
        domain=row["domain"],
        text=row["text"],
        gold_answer=row["gold_answer"],
        rubric=row["rubric"],
        gold_type=row["gold_type"],
        gold_points=tuple(Criterion(point["text"], point["weight"]) for point in points),
        banned_misconceptions=tuple(item["text"] for item in banned),
        scale=_scale(row),
    )


def _submission(row: sqlite3.Row) -> Submission:
    return Submission(
        submission_id=row["submission_id"],
        exam_id=row["exam_id"],
        question_id=row["question_id"],
        answer_id=row["answer_id"],
        student_id=row["student_id"],
        attack_type=row["attack_type"],
        text=row["text"] or "",
        received_at=datetime.fromisoformat(row["received_at"]),
        previous=row["previous"],
        erased=row["text"] is None,
    )


def _previous(connection: sqlite3.Connection, submission: Submission) -> str | None:
    row = connection.execute(
        "SELECT submission_id FROM submission "
        "WHERE exam_id = ? AND answer_id = ? AND attack_type = ? ORDER BY row DESC LIMIT 1",
        (submission.exam_id, submission.answer_id, submission.attack_type),
    ).fetchone()
    return None if row is None else str(row["submission_id"])


def _rating(row: sqlite3.Row) -> Rating:
    return Rating(
        exam_id=row["exam_id"],
        question_id=row["question_id"],
        answer_id=row["answer_id"],
        student_id=row["student_id"],
        rater=row["rater"],
        score=row["score"],
    )


def read_run(connection: sqlite3.Connection, number: int) -> Run:
    """The run of one row of table `run`."""
    row = _one(connection, "SELECT * FROM run WHERE row = ?", number)
    return Run(
        run_id=row["run_id"],
        kind=RunKind(row["kind"]),
        pipeline=row["pipeline"],
        started_at=datetime.fromisoformat(row["started_at"]),
    )


def read_publication(row: sqlite3.Row) -> Publication:
    """The record of one row with the columns of table `publication`."""
    return Publication(
        publication_id=row["publication_id"],
        run_id=row["run_id"],
        published_by=row["published_by"],
        reason=row["reason"],
        published_at=datetime.fromisoformat(row["published_at"]),
    )


def _grade_of_record(row: sqlite3.Row) -> GradeOfRecord:
    return GradeOfRecord(
        publication_id=row["publication_id"],
        exam_id=row["exam_id"],
        answer_id=row["answer_id"],
        judgement_id=row["judgement_id"],
    )


def _erasure(row: sqlite3.Row) -> Erasure:
    return Erasure(
        exam_id=row["exam_id"],
        answer_id=row["answer_id"],
        erased_by=row["erased_by"],
        reason=row["reason"],
        erased_at=datetime.fromisoformat(row["erased_at"]),
    )


def _scale_row(scale: ScoreScale) -> Mapping[str, float]:
    return {"min_score": scale.min_score, "max_points": scale.max_points, "step": scale.step}


def _scale(row: sqlite3.Row) -> ScoreScale:
    return ScoreScale(row["min_score"], row["max_points"], row["step"])
