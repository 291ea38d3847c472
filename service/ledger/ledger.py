"""The ledger: every Judgement and the exam registry, on disk before anybody sees a grade."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from service.errors import InputError, RecordConflictError, UnknownExamError
from service.exam import Answer, ExamItem, Question
from service.judgement import Judgement
from service.ledger import rows
from service.ledger.database import Database, insert, insert_logged
from service.records import Inclusion, LoggedRecord, Rating, Run, Submission

_SALT_BYTES = 16


class Ledger:
    """What was graded, in the order in which it was written. Safe to use from many threads.

    Writing a record that is there already changes nothing. An edited question and a changed
    rating are new versions, which stand beside the old ones.
    """

    def __init__(self, path: Path, *, patience_s: float = 30.0) -> None:
        """Open the ledger, or make it.

        Args:
            path: the SQLite file.
            patience_s: how long to wait for another process that is writing.

        Raises:
            LedgerError: the file cannot be opened, or a newer SteadyEval made it.
        """
        self._database = Database(path, patience_s=patience_s)
        self._listeners: list[Callable[[], None]] = []

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._database.path

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every write of this process."""
        self._listeners.append(listener)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._database.writing() as connection:
            yield connection
        for listener in self._listeners:
            listener()

    # --- the exam registry ---

    def register(self, items: Sequence[ExamItem]) -> None:
        """Keep the questions of an exam, and who gave which answer what score.

        Raises:
            InputError: an answer id is known as another student's, or another question's.
        """
        with self._writing() as connection:
            for item in items:
                _register_question(connection, item.question)
                _register_answer(connection, item.question, item.answer)
                for human in item.human_scores:
                    _register_rating(connection, item, human.rater, human.score)

    def register_questions(self, questions: Sequence[Question]) -> None:
        """Keep questions with their rubrics."""
        with self._writing() as connection:
            for question in questions:
                _register_question(connection, question)

    def question(self, exam_id: str, question_id: str) -> Question:
        """The latest version of a registered question.

        Raises:
            UnknownExamError: there is no such question.
        """
        with self._database.reading() as connection:
            question = rows.latest_question(connection, exam_id, question_id)
        if question is None:
            raise UnknownExamError(f"no question {question_id!r} of exam {exam_id!r} is registered")
        return question

    def questions(self, exam_id: str) -> list[Question]:
        """The latest versions of an exam's questions.

        Raises:
            UnknownExamError: there is no such exam.
        """
        with self._database.reading() as connection:
            questions = rows.questions_of_exam(connection, exam_id)
        if not questions:
            raise UnknownExamError(f"no exam {exam_id!r} is registered")
        return questions

    def admit(self, items: Sequence[tuple[Question, Answer]]) -> list[bytes | InputError]:
        """Register answers that are to be graded, with their questions.

        Returns:
            For each answer its salt, or why it cannot be taken: its id is known as another
            student's, or another question's.
        """
        admitted: list[bytes | InputError] = []
        with self._writing() as connection:
            for question, answer in items:
                _register_question(connection, question)
                try:
                    _register_answer(connection, question, answer)
                    admitted.append(_salt(connection, question.exam_id, answer.answer_id))
                except InputError as error:
                    admitted.append(error)
        return admitted

    def salt(self, exam_id: str, answer_id: str) -> bytes:
        """The random salt of an answer, drawn when it is first asked for.

        Ids that are made from the answer's texts are salted with it: once it is erased,
        they say nothing about the texts.
        """
        with self._writing() as connection:
            return _salt(connection, exam_id, answer_id)

    # --- Judgements ---

    def record(
        self, run: Run, submissions: Sequence[Submission], judgements: Sequence[Judgement]
    ) -> None:
        """Write a run and all that it includes, on disk when this returns: all or nothing.

        A filter Judgement stands before the filtered one that is based on it.

        Raises:
            RecordConflictError: a Judgement is in the ledger with another result.
            LedgerError: the file cannot be written.
        """
        with self._writing() as connection:
            insert_logged(connection, "run", rows.run_row(run))
            for submission in submissions:
                insert_logged(connection, "submission", rows.submission_row(submission))
            for judgement in judgements:
                if insert_logged(connection, "judgement", rows.judgement_row(judgement)):
                    rows.add_removed_spans(connection, judgement)
                else:
                    _check_same_result(connection, judgement)
            for judgement in judgements:
                inclusion = Inclusion(run.run_id, judgement.judgement_id)
                insert_logged(connection, "inclusion", vars(inclusion))

    def find(self, judgement_id: str) -> Judgement | None:
        """A Judgement by its id, if there is one."""
        with self._database.reading() as connection:
            return _find(connection, judgement_id)

    def judgement(self, judgement_id: str) -> Judgement:
        """A Judgement by its id.

        Raises:
            UnknownExamError: there is no such Judgement.
        """
        found = self.find(judgement_id)
        if found is None:
            raise UnknownExamError(f"no judgement {judgement_id!r} is recorded")
        return found

    def judgements_of_answer(self, answer_id: str, exam_id: str | None = None) -> list[Judgement]:
        """All Judgements of an answer, oldest first; without `exam_id`, in every exam."""
        query = f"{rows.JUDGEMENTS} WHERE answer_id = ? AND exam_id = coalesce(?, exam_id)"
        with self._database.reading() as connection:
            found = connection.execute(f"{query} ORDER BY judgement.row", (answer_id, exam_id))
            return [rows.read_judgement(connection, row) for row in found.fetchall()]

    # --- the way to the graph ---

    def last_seq(self) -> int:
        """Place of the newest record; 0 in an empty ledger."""
        with self._database.reading() as connection:
            return int(connection.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])

    def after(self, seq: int, limit: int) -> list[LoggedRecord]:
        """At most `limit` records behind place `seq`, in writing order."""
        with self._database.reading() as connection:
            log = connection.execute(
                "SELECT * FROM log WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit)
            )
            return [
                LoggedRecord(
                    entry["seq"], rows.read_record(connection, entry["kind"], entry["row"])
                )
                for entry in log.fetchall()
            ]

    def shipped(self, graph: str) -> int:
        """Place of the last record that is known to be in `graph`."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT seq FROM shipped WHERE graph = ?", (graph,)).fetchone()
        return 0 if row is None else int(row["seq"])

    def mark_shipped(self, graph: str, seq: int) -> None:
        """Remember that all records up to place `seq` are in `graph`."""
        with self._database.writing() as connection:
            connection.execute("REPLACE INTO shipped (graph, seq) VALUES (?, ?)", (graph, seq))


def _register_question(connection: sqlite3.Connection, question: Question) -> None:
    known = rows.latest_question(connection, question.exam_id, question.question_id)
    if known != question:
        rows.add_question_version(connection, question)


def _register_answer(connection: sqlite3.Connection, question: Question, answer: Answer) -> None:
    key = {"exam_id": question.exam_id, "answer_id": answer.answer_id}
    owner = {"question_id": question.question_id, "student_id": answer.student_id}
    if insert(connection, "answer", {**key, **owner}):
        return
    known = connection.execute(
        "SELECT question_id, student_id FROM answer "
        "WHERE exam_id = :exam_id AND answer_id = :answer_id",
        key,
    ).fetchone()
    if dict(known) != owner:
        raise InputError(
            f"answer {answer.answer_id!r} of exam {question.exam_id!r} is known as student "
            f"{known['student_id']!r}'s to question {known['question_id']!r}; it cannot be "
            f"student {answer.student_id!r}'s to question {question.question_id!r}"
        )


def _register_rating(
    connection: sqlite3.Connection, item: ExamItem, rater: str, score: float
) -> None:
    rating = Rating(
        exam_id=item.question.exam_id,
        question_id=item.question.question_id,
        answer_id=item.answer.answer_id,
        student_id=item.answer.student_id,
        rater=rater,
        score=score,
    )
    if rows.latest_score(connection, rating) != score:
        insert_logged(connection, "rating", rows.rating_row(rating))


def _salt(connection: sqlite3.Connection, exam_id: str, answer_id: str) -> bytes:
    key = {"exam_id": exam_id, "answer_id": answer_id}
    insert(connection, "salt", {**key, "salt": secrets.token_bytes(_SALT_BYTES)})
    row = connection.execute(
        "SELECT salt FROM salt WHERE exam_id = :exam_id AND answer_id = :answer_id", key
    ).fetchone()
    return bytes(row["salt"])


def _find(connection: sqlite3.Connection, judgement_id: str) -> Judgement | None:
    row = connection.execute(
        f"{rows.JUDGEMENTS} WHERE judgement_id = ?", (judgement_id,)
    ).fetchone()
    return None if row is None else rows.read_judgement(connection, row)


def _check_same_result(connection: sqlite3.Connection, judgement: Judgement) -> None:
    known = _find(connection, judgement.judgement_id)
    if known is None or _result(known) != _result(judgement):
        raise RecordConflictError(
            f"judgement {judgement.judgement_id} is in the ledger with another result"
        )


def _result(judgement: Judgement) -> tuple[str, float | None, str | None]:
    return judgement.raw_output, judgement.predicted_score, judgement.cleaned_answer
