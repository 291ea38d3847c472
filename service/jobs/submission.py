"""What a job is made of: the answers of an exam file, or those that the ledger has."""

from __future__ import annotations

from pathlib import Path

from service.errors import InputError
from service.exam_file import parse_exam
from service.jobs.job import NewItem
from service.ledger import Ledger
from service.pseudonyms import Pseudonyms


def items_of_file(
    content: bytes, *, is_csv: bool, max_answer_chars: int, pseudonyms: Pseudonyms
) -> list[NewItem]:
    """The answers of an exam file; the human scores in it are left out.

    Args:
        content: the file's bytes.
        is_csv: whether it is CSV; else it is JSONL.
        max_answer_chars: longest answer that is accepted.
        pseudonyms: what students are called.

    Raises:
        ExamFileError: it has faults; it lists every one of them.
    """
    found = parse_exam(
        content, Path("the upload"), is_csv=is_csv, max_answer_chars=max_answer_chars
    )
    return [
        NewItem(
            question=item.question,
            answer_id=item.answer.answer_id,
            student_id=item.answer.student_id,
            attack_type=item.answer.attack_type,
            text=item.answer.text,
        )
        for item in map(pseudonyms.item, found)
    ]


def items_of_exam(ledger: Ledger, exam_id: str) -> list[NewItem]:
    """The latest text of each answer of an exam; the texts stay in the ledger.

    Raises:
        UnknownExamError: nothing is known of the exam.
        InputError: questions are registered, but no answer came yet.
        LedgerError: the ledger cannot be read.
    """
    found = ledger.latest_submissions(exam_id)
    if not found:
        ledger.questions(exam_id)
        raise InputError(
            f"no answer of exam {exam_id!r} is recorded yet; send the answers with the batch"
        )
    return [
        NewItem(
            question=question,
            answer_id=submission.answer_id,
            student_id=submission.student_id,
            attack_type=submission.attack_type,
            text=None,
            submission_id=submission.submission_id,
        )
        for question, submission in found
    ]
