"""The ledger: every Judgement and the exam registry, on disk before anybody sees a grade."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from service.errors import ErasedError, InputError, RecordConflictError, UnknownExamError
from service.exam import Answer, ExamItem, Question
from service.judgement import Judgement
from service.ledger import chain, erasure, publishing, rows, verification
from service.ledger.database import Database
from service.ledger.erasure import AnswerKey
from service.ledger.group_commit import GroupCommit
from service.ledger.publishing import PublicationPlan, PublishedGrade
from service.ledger.tables import answer_salt, insert, insert_logged
from service.records import (
    Fault,
    Inclusion,
    LoggedRecord,
    Publication,
    Rating,
    Record,
    Run,
    Submission,
)

_PORTION = 500
_ERASED_AT_ONCE = 100
_NOBODY: Mapping[AnswerKey, bytes] = {}


class _Owner(NamedTuple):
    question_id: str
    student_id: str


@dataclass(frozen=True)
class LedgerStatus:
    """What a ledger holds.

    Attributes:
        records: how many of each kind, by the name of its table.
        last_seq: place of the newest.
        head: its hash, hex, which binds it and all before it.
    """

    records: Mapping[str, int]
    last_seq: int
    head: str


class Ledger:
    """What was graded, in the order in which it was written. Safe to use from many threads.

    Writing a record that is there already changes nothing. An edited question and a changed
    rating are new versions, which stand beside the old ones. A question is what was last
    registered; one that only came with an answer is kept, but speaks for no other answer.

    Attributes:
        ledger_id: random name, drawn when the file was made.
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
        self._commits = GroupCommit(self._database)
        self._listeners: list[Callable[[], None]] = []
        with self._database.reading() as connection:
            (ledger_id,) = connection.execute("SELECT ledger_id FROM ledger").fetchone()
        self.ledger_id: str = ledger_id

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._database.path

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def check_writable(self) -> None:
        """Do nothing if records can be written.

        Raises:
            LedgerError: they cannot.
        """
        self._database.check_writable()

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every write of this process."""
        self._listeners.append(listener)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._database.writing() as connection:
            yield connection
        self._tell()

    def _tell(self) -> None:
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
                key = AnswerKey(item.question.exam_id, item.answer.answer_id)
                owner = _Owner(item.question.question_id, item.answer.student_id)
                _register_answer(connection, key, owner)
                for human in item.human_scores:
                    _register_rating(connection, item, human.rater, human.score)

    def register_questions(self, questions: Sequence[Question]) -> None:
        """Keep questions with their rubrics."""
        with self._writing() as connection:
            for question in questions:
                _register_question(connection, question)

    def question(self, exam_id: str, question_id: str) -> Question:
        """The latest registered version of a question.

        Raises:
            UnknownExamError: there is no such question.
        """
        with self._database.reading() as connection:
            question = rows.registered_question(connection, exam_id, question_id)
        if question is None:
            raise UnknownExamError(f"no question {question_id!r} of exam {exam_id!r} is registered")
        return question

    def questions(self, exam_id: str) -> list[Question]:
        """The latest registered versions of an exam's questions.

        Raises:
            UnknownExamError: there are none.
        """
        with self._database.reading() as connection:
            questions = rows.questions_of_exam(connection, exam_id)
        if not questions:
            raise UnknownExamError(f"no exam {exam_id!r} is registered")
        return questions

    def admit(self, items: Sequence[tuple[Question, Answer]]) -> list[bytes | InputError]:
        """Say of answers whether they may be graded; nothing is recorded of them yet.

        Returns:
            For each answer its random salt, which stays the same: ids that are made from the
            answer's texts are salted with it, and say nothing about them once it is erased.
            Or why it cannot be taken: its id is another student's or another question's, or
            its question differs from the registered one.
        """
        # A salt matters once a record has an id that is made with it, and that one is lasting.
        return self._commits.run(lambda connection: _admit(connection, items), lasting=False)

    # --- Judgements ---

    def record(
        self,
        run: Run,
        questions: Sequence[Question],
        submissions: Sequence[Submission],
        judgements: Sequence[Judgement],
        admitted: Mapping[AnswerKey, bytes] = _NOBODY,
    ) -> None:
        """Write a run and all that it includes, on disk when this returns: all or nothing.

        A filter Judgement stands before the filtered one that is based on it.

        Args:
            run: the run.
            questions: those of the submissions, as they were asked.
            submissions: what the Judgements are about.
            judgements: new ones, and those that the run found.
            admitted: salts with which answers were admitted; an answer that has another by now
                was erased meanwhile.

        Raises:
            ErasedError: the texts of an answer were erased meanwhile.
            RecordConflictError: a Judgement is in the ledger with another result, or an answer
                as another student's.
            LedgerError: the file cannot be written.
        """
        self._commits.run(
            lambda connection: _record(
                connection, run, questions, submissions, judgements, admitted
            )
        )
        self._tell()

    def find(self, judgement_id: str) -> Judgement | None:
        """A Judgement by its id, if there is one. Waits for no writer."""
        with self._database.glancing() as connection:
            return _find(connection, judgement_id)

    def find_result(self, key: bytes) -> Judgement | None:
        """The first Judgement with this result, whoever it is of, if there is one."""
        with self._database.glancing() as connection:
            row = connection.execute(
                "SELECT judgement_id FROM result WHERE key = ?", (key,)
            ).fetchone()
            return None if row is None else _find(connection, row["judgement_id"])

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

    # --- the grade of record ---

    def publication_plan(self, run_id: str) -> PublicationPlan:
        """What publishing a run would do now.

        Raises:
            UnknownExamError: there is no such run.
            InputError: the run has more than one final grade of an answer, as experiments have.
        """
        with self._database.reading() as connection:
            return publishing.plan(connection, run_id)

    def publish(self, shown: PublicationPlan, *, by: str, reason: str) -> Publication:
        """Let the grades of a run count, on disk when this returns: all that was shown or nothing.

        Args:
            shown: what the person who decides has seen.
            by: that person.
            reason: why.

        Raises:
            RecordConflictError: it would do something else by now.
        """
        publication = self._commits.run(
            lambda connection: publishing.publish(connection, shown, by=by, reason=reason)
        )
        self._tell()
        return publication

    def published_grades(self, answer_id: str, exam_id: str | None = None) -> list[PublishedGrade]:
        """All grades that were published of an answer, oldest first; an exam's last one counts."""
        with self._database.reading() as connection:
            return publishing.history(connection, answer_id, exam_id)

    def latest_runs(self, most: int) -> list[Run]:
        """The newest runs, the newest first."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT row FROM run ORDER BY row DESC LIMIT ?", (most,))
            return [rows.read_run(connection, row) for (row,) in found.fetchall()]

    # --- what was handed in ---

    def submission(self, submission_id: str) -> Submission:
        """A text by its id.

        Raises:
            UnknownExamError: there is no such text.
        """
        with self._database.reading() as connection:
            found = rows.find_submission(connection, submission_id)
        if found is None:
            raise UnknownExamError(f"no submission {submission_id!r} is recorded")
        return found

    def latest_submissions(self, exam_id: str) -> list[tuple[Question, Submission]]:
        """The latest text of each answer and variant of an exam, in order of arrival.

        Each comes with its question as it is registered now, or, where it is not, as it was last
        asked. Texts that were erased are left out.
        """
        with self._database.reading() as connection:
            return rows.latest_submissions(connection, exam_id)

    # --- privacy ---

    def answers_with_texts(self, student_id: str, exam_id: str | None = None) -> list[AnswerKey]:
        """Answers of a student, in one exam or in all, of which there are texts."""
        with self._database.reading() as connection:
            return erasure.with_texts_of(connection, student_id, exam_id)

    def answers_older_than(self, moment: datetime) -> list[AnswerKey]:
        """Answers with texts of which nothing was received or judged since `moment`."""
        with self._database.reading() as connection:
            return erasure.older_than(connection, moment)

    def withdraw(self, answers: Sequence[AnswerKey]) -> None:
        """Let nothing be recorded of answers that are being graded, if no text of them is."""
        self._commits.run(lambda connection: erasure.withdraw(connection, answers))

    def erase(self, answers: Sequence[AnswerKey], *, by: str, reason: str) -> bool:
        """Erase all texts of answers and what was made from them; scores and records stay.

        What is being graded of them at this moment is not recorded.

        Args:
            answers: whose texts.
            by: who decided it.
            reason: why.

        Returns:
            Whether the write-ahead log is free of them by now: not while another process reads
            what is in it, and at the latest when that has ended.
        """
        for start in range(0, len(answers), _ERASED_AT_ONCE):
            portion = answers[start : start + _ERASED_AT_ONCE]

            def work(
                connection: sqlite3.Connection, portion: Sequence[AnswerKey] = portion
            ) -> None:
                erasure.erase(connection, portion, by=by, reason=reason)

            self._commits.run(work)
            self._tell()
        return self._database.empty_wal()

    def records_of_student(self, student_id: str, exam_id: str | None = None) -> list[Record]:
        """All that is recorded of a student's answers, in writing order.

        Submissions, ratings, Judgements, grades of record and erasures; in one exam or in all.
        """
        with self._database.reading() as connection:
            return rows.records_of_student(connection, student_id, exam_id)

    # --- the way to the graph ---

    def last_seq(self) -> int:
        """Place of the newest record; 0 in an empty ledger. Waits for no writer."""
        with self._database.glancing() as connection:
            return int(connection.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])

    def after(self, seq: int, limit: int) -> list[LoggedRecord]:
        """At most `limit` records behind place `seq`, in writing order."""
        with self._database.reading() as connection:
            log = connection.execute(
                "SELECT * FROM log WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit)
            )
            return [
                LoggedRecord(
                    entry["seq"],
                    rows.read_record(connection, entry["kind"], entry["row"]),
                    entry["hash"].hex(),
                )
                for entry in log.fetchall()
            ]

    def portions(self, last_seq: int) -> Iterator[list[LoggedRecord]]:
        """All records up to place `last_seq`, some hundreds at a time, in writing order."""
        seq = 0
        while seq < last_seq:
            records = self.after(seq, min(_PORTION, last_seq - seq))
            if not records:
                return
            yield records
            seq = records[-1].seq

    def unknown(self, kind: type[Record], ids: Sequence[str]) -> list[str]:
        """Those of some ids that no submission, judgement, run or publication has."""
        with self._database.reading() as connection:
            return rows.unknown(connection, kind.__name__.lower(), ids)

    # --- is it what was written? ---

    def faults(self) -> Iterator[Fault]:
        """All records that are not as they were written; none in a good ledger.

        Raises:
            LedgerError: the file cannot be read; what was found until then is told.
        """
        with self._database.snapshot() as connection:
            yield from verification.faults(connection)

    def status(self) -> LedgerStatus:
        """How much there is, and the end of the chain."""
        with self._database.snapshot() as connection:
            counts = connection.execute("SELECT kind, count(*) FROM log GROUP BY kind")
            records = {kind: int(count) for kind, count in counts}
            seq, digest = chain.head(connection)
            return LedgerStatus(records, seq, digest.hex())

    def hash_at(self, seq: int) -> str | None:
        """Hash of the row at place `seq`, hex; None where there is none."""
        with self._database.glancing() as connection:
            row = connection.execute("SELECT hash FROM log WHERE seq = ?", (seq,)).fetchone()
            return None if row is None else row["hash"].hex()


def _admit(
    connection: sqlite3.Connection, items: Sequence[tuple[Question, Answer]]
) -> list[bytes | InputError]:
    admitted: list[bytes | InputError] = []
    owners: dict[AnswerKey, _Owner] = {}
    for question, answer in items:
        key = AnswerKey(question.exam_id, answer.answer_id)
        owner = _Owner(question.question_id, answer.student_id)
        try:
            _check_question(connection, question)
            known = owners.setdefault(key, _known_owner(connection, key) or owner)
            _check_owner(key, owner, known)
            admitted.append(answer_salt(connection, *key))
        except InputError as error:
            admitted.append(error)
    return admitted


def _record(
    connection: sqlite3.Connection,
    run: Run,
    questions: Sequence[Question],
    submissions: Sequence[Submission],
    judgements: Sequence[Judgement],
    admitted: Mapping[AnswerKey, bytes],
) -> None:
    texts = {submission.submission_id: submission.text for submission in submissions}
    for question in dict.fromkeys(questions):
        _keep_question(connection, question)
    insert_logged(connection, "run", rows.run_row(run))
    for submission in submissions:
        key = AnswerKey(submission.exam_id, submission.answer_id)
        owner = _Owner(submission.question_id, submission.student_id)
        try:
            _register_answer(connection, key, owner)
        except InputError as error:
            raise RecordConflictError(str(error)) from error
        salt = answer_salt(connection, *key)
        if admitted.get(key, salt) != salt:
            raise ErasedError(*key)
        if not rows.add_submission(connection, submission, salt):
            _check_not_erased(connection, submission)
    for judgement in judgements:
        salt = answer_salt(connection, judgement.exam_id, judgement.answer_id)
        if rows.add_judgement(connection, judgement, salt):
            rows.add_result(connection, judgement, texts[judgement.submission_id])
        else:
            _check_same_result(connection, judgement)
    for judgement in judgements:
        inclusion = Inclusion(run.run_id, judgement.judgement_id)
        insert_logged(connection, "inclusion", vars(inclusion))


def _register_question(connection: sqlite3.Connection, question: Question) -> None:
    known = rows.registered_question(connection, question.exam_id, question.question_id)
    if known != question:
        rows.add_question_version(connection, question, registered=True)


def _check_question(connection: sqlite3.Connection, question: Question) -> None:
    known = rows.registered_question(connection, question.exam_id, question.question_id)
    if known is None or known == question:
        return
    names = [field.name for field in fields(question)]
    differing = [name for name in names if getattr(known, name) != getattr(question, name)]
    raise InputError(
        f"question {question.question_id!r} of exam {question.exam_id!r} is registered with "
        f"another {', '.join(differing)}; register the new version first, or name the question "
        "by its ids alone"
    )


def _keep_question(connection: sqlite3.Connection, question: Question) -> None:
    """Log a question that came with an answer, unless a registered one speaks for it."""
    key = question.exam_id, question.question_id
    registered = rows.registered_question(connection, *key)
    if registered is None and rows.latest_question(connection, *key) != question:
        rows.add_question_version(connection, question, registered=False)


def _register_answer(connection: sqlite3.Connection, key: AnswerKey, owner: _Owner) -> None:
    if not insert(connection, "answer", {**key._asdict(), **owner._asdict()}):
        _check_owner(key, owner, _known_owner(connection, key))


def _known_owner(connection: sqlite3.Connection, key: AnswerKey) -> _Owner | None:
    row = connection.execute(
        "SELECT question_id, student_id FROM answer WHERE exam_id = ? AND answer_id = ?", key
    ).fetchone()
    return None if row is None else _Owner(*row)


def _check_owner(key: AnswerKey, owner: _Owner, known: _Owner | None) -> None:
    if known is not None and known != owner:
        raise InputError(
            f"answer {key.answer_id!r} of exam {key.exam_id!r} is known as student "
            f"{known.student_id!r}'s to question {known.question_id!r}; it cannot be "
            f"student {owner.student_id!r}'s to question {owner.question_id!r}"
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


def _find(connection: sqlite3.Connection, judgement_id: str) -> Judgement | None:
    row = connection.execute(
        f"{rows.JUDGEMENTS} WHERE judgement_id = ?", (judgement_id,)
    ).fetchone()
    return None if row is None else rows.read_judgement(connection, row)


def _check_not_erased(connection: sqlite3.Connection, submission: Submission) -> None:
    row = connection.execute(
        "SELECT text FROM submission WHERE submission_id = ?", (submission.submission_id,)
    ).fetchone()
    if row["text"] is None:
        raise ErasedError(submission.exam_id, submission.answer_id)


def _check_same_result(connection: sqlite3.Connection, judgement: Judgement) -> None:
    known = _find(connection, judgement.judgement_id)
    if known is None or _result(known) != _result(judgement):
        raise RecordConflictError(
            f"judgement {judgement.judgement_id} is in the ledger with another result"
        )


def _result(judgement: Judgement) -> tuple[str, float | None, str | None]:
    return judgement.raw_output, judgement.predicted_score, judgement.cleaned_answer
