"""The grade of record: which Judgement counts for an answer, moved by a person's decision only."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from service.errors import InputError, RecordConflictError, UnknownExamError
from service.judgement import Judgement, Stage
from service.ledger import rows
from service.ledger.tables import insert_logged
from service.records import GradeOfRecord, Publication


@dataclass(frozen=True)
class GradeChange:
    """What a publication does to an answer; `old` is None where nothing counts yet."""

    old: Judgement | None
    new: Judgement


@dataclass(frozen=True)
class PublicationPlan:
    """What publishing a run would do now.

    Attributes:
        run_id: the run.
        changes: answers whose grade of record would move, in the order of the ledger.
        unchanged: how many of the run's grades count already.
        without_score: final Judgements with no valid score, which never come to count.
    """

    run_id: str
    changes: tuple[GradeChange, ...]
    unchanged: int
    without_score: tuple[Judgement, ...]


@dataclass(frozen=True)
class PublishedGrade:
    """A Judgement that counts, or once did, for its answer, and who let it count."""

    judgement: Judgement
    publication: Publication


_GRADES = f"""
    {rows.JUDGEMENTS} JOIN inclusion USING (judgement_id)
    WHERE inclusion.run_id = ? AND stage = '{Stage.FILTERED}' ORDER BY judgement.row
"""
_OF_ANSWER = """
    SELECT grade_of_record.*, run_id, published_by, reason, published_at
    FROM grade_of_record JOIN publication USING (publication_id)
    WHERE answer_id = ? AND exam_id = coalesce(?, exam_id) ORDER BY grade_of_record.row
"""


def plan(connection: sqlite3.Connection, run_id: str) -> PublicationPlan:
    """What publishing a run would do now.

    Raises:
        UnknownExamError: there is no such run.
        InputError: the run has more than one final grade of an answer, as experiments have.
    """
    if connection.execute("SELECT 1 FROM run WHERE run_id = ?", (run_id,)).fetchone() is None:
        raise UnknownExamError(f"no run {run_id!r} is recorded")
    found = [
        rows.read_judgement(connection, row)
        for row in connection.execute(_GRADES, (run_id,)).fetchall()
    ]
    grades = {(judgement.exam_id, judgement.answer_id): judgement for judgement in found}
    if len(grades) < len(found):
        raise InputError(
            f"run {run_id} has {len(found)} final grades of {len(grades)} answers, so it does not "
            "say which of them count; publish a run that graded each answer once"
        )
    changes, unchanged = [], 0
    for judgement in found:
        old = _judgement_of_record(connection, judgement.exam_id, judgement.answer_id)
        if old is not None and old.judgement_id == judgement.judgement_id:
            unchanged += 1
        elif judgement.predicted_score is not None:
            changes.append(GradeChange(old, judgement))
    return PublicationPlan(
        run_id,
        tuple(changes),
        unchanged,
        tuple(judgement for judgement in found if judgement.predicted_score is None),
    )


def publish(
    connection: sqlite3.Connection, shown: PublicationPlan, *, by: str, reason: str
) -> Publication:
    """Do what was shown.

    Raises:
        RecordConflictError: it would do something else by now; nothing is changed.
    """
    if plan(connection, shown.run_id) != shown:
        raise RecordConflictError(
            f"grades of record changed since the differences of run {shown.run_id} were shown; "
            "look at them again"
        )
    publication = Publication(str(uuid4()), shown.run_id, by, reason, datetime.now(UTC))
    insert_logged(
        connection,
        "publication",
        {**vars(publication), "published_at": publication.published_at.isoformat()},
    )
    for change in shown.changes:
        grade = GradeOfRecord(
            publication.publication_id,
            change.new.exam_id,
            change.new.answer_id,
            change.new.judgement_id,
        )
        insert_logged(connection, "grade_of_record", vars(grade))
    return publication


def history(
    connection: sqlite3.Connection, answer_id: str, exam_id: str | None
) -> list[PublishedGrade]:
    """All grades that were published of an answer, oldest first; an exam's last one counts."""
    return [
        PublishedGrade(
            rows.find_judgement(connection, row["judgement_id"]), rows.read_publication(row)
        )
        for row in connection.execute(_OF_ANSWER, (answer_id, exam_id)).fetchall()
    ]


def _judgement_of_record(
    connection: sqlite3.Connection, exam_id: str, answer_id: str
) -> Judgement | None:
    row = connection.execute(
        "SELECT judgement_id FROM grade_of_record WHERE exam_id = ? AND answer_id = ? "
        "ORDER BY row DESC LIMIT 1",
        (exam_id, answer_id),
    ).fetchone()
    return None if row is None else rows.find_judgement(connection, row["judgement_id"])
