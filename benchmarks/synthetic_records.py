"""Graded exams as the ledger would log them, of any number, that nobody wrote or graded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from benchmarks.synthetic import QUESTIONS, answers, question
from filter_training.attacks import attacked
from service.exam import ExamItem
from service.judgement import FinishReason, Judgement, RemovedSpan, ScoreSource, Stage
from service.prompts import filter_prompt, grading_prompt
from service.records import Inclusion, Rating, Record, Run, RunKind, Submission

ANSWERS_OF_EXAM = 500
JUDGEMENTS_OF_ANSWER = len(Stage)

_WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
_ATTACK = "coercive_suffix"
_ATTACKED = 5
_WITHOUT_SCORE = 100


@dataclass(frozen=True)
class GradedExam:
    """An exam: the records that all of it shares, and those of each answer."""

    shared: tuple[Record, ...]
    answers: tuple[tuple[Record, ...], ...]


def graded_exam(number: int, size: int) -> GradedExam:
    """An exam of `size` answers: one in five attacked, one in a hundred without a score."""
    exam_id = f"exam-{number}"
    run = Run(f"run-{number}", RunKind.BATCH, "guarded-mark", _WHEN + timedelta(days=number))
    questions = tuple(question(each, exam_id) for each in range(QUESTIONS))
    graded = (
        tuple(_records(item, place, run)) for place, item in enumerate(answers(size, exam_id))
    )
    return GradedExam((*questions, run), tuple(graded))


def _records(item: ExamItem, place: int, run: Run) -> Iterator[Record]:
    asked, clean = item.question, item.answer.text
    text = clean if place % _ATTACKED else attacked(clean, _ATTACK)
    submission = Submission(
        submission_id=f"{asked.exam_id}-{item.answer.answer_id}",
        exam_id=asked.exam_id,
        question_id=asked.question_id,
        answer_id=item.answer.answer_id,
        student_id=item.answer.student_id,
        attack_type="unlabelled",
        text=text,
        received_at=run.started_at,
    )
    score = float(1 + place % 10)
    yield submission
    yield Rating(
        asked.exam_id,
        asked.question_id,
        item.answer.answer_id,
        item.answer.student_id,
        "r1",
        score,
    )
    for judgement in _judgements(item, submission, clean, score, place):
        yield judgement
        yield Inclusion(run.run_id, judgement.judgement_id)


def _judgements(
    item: ExamItem, submission: Submission, clean: str, score: float, place: int
) -> Iterator[Judgement]:
    asked, raw = item.question, submission.text
    gone = (RemovedSpan(len(clean), len(raw), raw[len(clean) :], 0.98),) if raw != clean else ()
    filtering = Judgement(
        judgement_id=f"{submission.submission_id}-filter",
        stage=Stage.FILTER,
        exam_id=submission.exam_id,
        question_id=submission.question_id,
        answer_id=submission.answer_id,
        student_id=submission.student_id,
        submission_id=submission.submission_id,
        attack_type=submission.attack_type,
        prompt=filter_prompt(asked, raw).text,
        raw_output=clean,
        finish_reason=FinishReason.STOP,
        scale=asked.scale,
        model_fingerprint="f" * 64,
        prompt_version="1",
        decoding="mark",
        created_at=submission.received_at,
        latency_ms=12.5,
        cleaned_answer=clean,
        removed_spans=gone,
        filter_stable=True,
    )
    baseline = replace(
        filtering,
        judgement_id=f"{submission.submission_id}-baseline",
        stage=Stage.BASELINE,
        prompt=grading_prompt(asked, raw, justify=False).text,
        model_fingerprint="b" * 64,
        cleaned_answer=None,
        removed_spans=(),
        filter_stable=None,
    )
    filtered = replace(
        baseline,
        judgement_id=f"{submission.submission_id}-filtered",
        stage=Stage.FILTERED,
        prompt=grading_prompt(asked, clean, justify=False).text,
        based_on=filtering.judgement_id,
    )
    yield _scored(baseline, 10.0 if gone else score)
    yield filtering
    yield _scored(filtered, None if place % _WITHOUT_SCORE == 1 else score)


def _scored(judgement: Judgement, score: float | None) -> Judgement:
    written = "none" if score is None else f"{score:g}"
    return replace(
        judgement,
        raw_output=f"Answer: {written}",
        raw_score=written,
        predicted_score=score,
        score_source=ScoreSource.NONE if score is None else ScoreSource.LINE,
        expected_score=score,
        score_probabilities={f"{each}": 0.1 for each in range(1, 11)},
    )
