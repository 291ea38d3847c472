"""Erasing the texts of answers: what was graded goes, that and how it was graded stays.

The unit is the answer, since all ids and hashes of its texts are made with one salt: once that is
gone, nobody can tell from what is left whether a text was this one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from service.ledger import chain
from service.ledger.tables import insert_logged
from service.records import Erasure


class AnswerKey(NamedTuple):
    """What names an answer."""

    exam_id: str
    answer_id: str


_ANSWER = "exam_id = :exam_id AND answer_id = :answer_id"
_SUBMISSIONS = f"SELECT submission_id FROM submission WHERE {_ANSWER}"
_JUDGEMENTS = f"SELECT judgement_id FROM judgement WHERE submission_id IN ({_SUBMISSIONS})"
_STATEMENTS = (
    f"DELETE FROM result WHERE judgement_id IN ({_JUDGEMENTS})",
    f"UPDATE removed_span SET text = NULL WHERE judgement_id IN ({_JUDGEMENTS})",
    *(
        f"UPDATE {table} SET {', '.join(f'{column} = NULL' for column in columns)} "
        f"WHERE submission_id IN ({_SUBMISSIONS})"
        for table, columns in chain.ERASABLE.items()
    ),
    f"DELETE FROM salt WHERE {_ANSWER}",
)
_WITH_TEXTS = "submission.text IS NOT NULL"
_WITHDRAW = f"""
    DELETE FROM salt WHERE {_ANSWER}
    AND NOT EXISTS (SELECT * FROM submission WHERE {_ANSWER} AND {_WITH_TEXTS})
"""
_OF_STUDENT = f"""
    SELECT DISTINCT exam_id, answer_id FROM answer JOIN submission USING (exam_id, answer_id)
    WHERE student_id = ? AND exam_id = coalesce(?, exam_id) AND {_WITH_TEXTS}
    ORDER BY exam_id, answer_id
"""
_OLD = f"""
    SELECT exam_id, answer_id FROM submission LEFT JOIN judgement USING (submission_id)
    GROUP BY exam_id, answer_id
    HAVING max(julianday(received_at)) < julianday(:moment)
       AND coalesce(max(julianday(created_at)), 0) < julianday(:moment)
       AND sum({_WITH_TEXTS}) > 0
    ORDER BY exam_id, answer_id
"""


def with_texts_of(
    connection: sqlite3.Connection, student_id: str, exam_id: str | None
) -> list[AnswerKey]:
    """Answers of a student of which there are texts."""
    return [AnswerKey(*row) for row in connection.execute(_OF_STUDENT, (student_id, exam_id))]


def older_than(connection: sqlite3.Connection, moment: datetime) -> list[AnswerKey]:
    """Answers with texts of which nothing was received or judged since `moment`."""
    return [AnswerKey(*row) for row in connection.execute(_OLD, {"moment": moment.isoformat()})]


def withdraw(connection: sqlite3.Connection, answers: Sequence[AnswerKey]) -> None:
    """Forget with which salts answers were admitted, unless texts of them are recorded."""
    connection.executemany(_WITHDRAW, [answer._asdict() for answer in answers])


def erase(
    connection: sqlite3.Connection, answers: Sequence[AnswerKey], *, by: str, reason: str
) -> None:
    """Erase all texts of answers, and log that it was done."""
    for answer in answers:
        for statement in _STATEMENTS:
            connection.execute(statement, answer._asdict())
        erasure = Erasure(*answer, erased_by=by, reason=reason, erased_at=datetime.now(UTC))
        values = {**vars(erasure), "erased_at": erasure.erased_at.isoformat()}
        insert_logged(connection, "erasure", values)
