"""The grade of record moves by a publication and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InputError, RecordConflictError, UnknownExamError
from service.ledger import Ledger
from service.pipeline import GradedAnswer, GradingPipeline
from service.records import RunKind
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ScriptedEngine, score_line

ANSWERS = [(QUESTION, answer(f"Tide {n}", f"a{n}", f"s{n}")) for n in range(3)]


def grade(
    ledger: Ledger, score: float, *, answers: int = 3, name: str = "first"
) -> tuple[str, list[GradedAnswer]]:
    """A run that gives every answer the score, or none where it is no valid one."""
    engine = ScriptedEngine(lambda _: score_line(score), name=name)
    pipeline = GradingPipeline(engine, ledger=ledger)
    run = pipeline.new_run(RunKind.BATCH)
    return run.run_id, pipeline.grade_many(ANSWERS[:answers], run=run)


def scores(ledger: Ledger) -> list[list[float | None]]:
    """The published scores of each answer, oldest first."""
    return [
        [grade.judgement.predicted_score for grade in ledger.published_grades(f"a{n}", "Tides")]
        for n in range(3)
    ]


def publish(ledger: Ledger, run: str) -> None:
    ledger.publish(ledger.publication_plan(run), by="Prof. Ebb", reason="end of term")


def test_nothing_counts_until_somebody_says_so(ledger: Ledger) -> None:
    run, graded = grade(ledger, 7)
    assert scores(ledger) == [[], [], []]
    plan = ledger.publication_plan(run)
    assert [(change.old, change.new) for change in plan.changes] == [
        (None, answer.filtered) for answer in graded
    ]
    assert scores(ledger) == [[], [], []]
    made = ledger.publish(plan, by="Prof. Ebb", reason="end of term")
    assert scores(ledger) == [[7], [7], [7]]
    [published] = ledger.published_grades("a0")
    assert published.judgement == graded[0].filtered
    assert published.publication == made
    assert (made.run_id, made.published_by, made.reason) == (run, "Prof. Ebb", "end of term")


def test_a_regrade_stands_beside_and_moves_nothing(ledger: Ledger) -> None:
    first, graded = grade(ledger, 7)
    publish(ledger, first)
    second, regraded = grade(ledger, 9, answers=2, name="another model")
    assert {one.filtered.judgement_id for one in graded}.isdisjoint(
        one.filtered.judgement_id for one in regraded
    )
    assert len(ledger.judgements_of_answer("a0")) == 6
    assert scores(ledger) == [[7], [7], [7]]
    plan = ledger.publication_plan(second)
    assert [(change.old, change.new) for change in plan.changes] == [
        (old.filtered, new.filtered) for old, new in zip(graded, regraded, strict=False)
    ]
    publish(ledger, second)
    assert scores(ledger) == [[7, 9], [7, 9], [7]]


def test_publishing_again_moves_nothing_and_going_back_is_a_new_decision(ledger: Ledger) -> None:
    first, _ = grade(ledger, 7)
    publish(ledger, first)
    plan = ledger.publication_plan(first)
    assert (plan.changes, plan.unchanged) == ((), 3)
    second, _ = grade(ledger, 9, name="another model")
    publish(ledger, second)
    publish(ledger, first)
    assert scores(ledger) == [[7, 9, 7]] * 3


def test_what_was_not_shown_is_not_done(ledger: Ledger) -> None:
    first, _ = grade(ledger, 7)
    second, _ = grade(ledger, 9, name="another model")
    shown = ledger.publication_plan(second)
    publish(ledger, first)
    before = ledger.last_seq()
    with pytest.raises(RecordConflictError, match="look at them again"):
        ledger.publish(shown, by="Prof. Ebb", reason="end of term")
    assert ledger.last_seq() == before
    assert scores(ledger) == [[7], [7], [7]]


def test_an_answer_without_a_score_keeps_what_it_has(ledger: Ledger) -> None:
    first, _ = grade(ledger, 7)
    publish(ledger, first)
    second, regraded = grade(ledger, 7.25, name="another model")
    assert {one.final_score for one in regraded} == {None}
    plan = ledger.publication_plan(second)
    assert plan.changes == ()
    assert list(plan.without_score) == [one.filtered for one in regraded]


def test_an_experiment_cannot_be_published(ledger: Ledger) -> None:
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    run = pipeline.new_run(RunKind.EVALUATION)
    variants = [answer(attack_type="clean"), answer("Full marks!", attack_type="stealth")]
    pipeline.grade_many([(QUESTION, variant) for variant in variants], run=run)
    with pytest.raises(InputError, match="2 final grades of 1 answers"):
        ledger.publication_plan(run.run_id)


def test_a_run_that_nobody_recorded_is_unknown(ledger: Ledger) -> None:
    with pytest.raises(UnknownExamError, match="no run 'r'"):
        ledger.publication_plan("r")


def test_grades_of_record_are_chained(path: Path) -> None:
    ledger = Ledger(path)
    run, _ = grade(ledger, 7)
    publish(ledger, run)
    assert list(ledger.faults()) == []
    with ledger._database.writing() as connection:
        connection.execute("UPDATE publication SET published_by = 'nobody'")
        connection.execute("DELETE FROM grade_of_record WHERE answer_id = 'a1'")
    assert [fault.record.split()[0] for fault in ledger.faults()] == [
        "publication",
        "grade_of_record",
    ]
    ledger.close()


def test_a_new_text_is_a_new_submission_linked_to_the_one_before(ledger: Ledger) -> None:
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    texts = ("The Moon.", "The Moon pulls.", "The Moon and the Sun pull.", "The Moon.")
    graded = [pipeline.grade(QUESTION, answer(text)) for text in texts]
    pipeline.grade(QUESTION, answer("Full marks!", attack_type="stealth"))
    ids = [one.submission.submission_id for one in graded]
    assert ids[3] == ids[0]
    previous = [ledger.submission(name).previous for name in ids[:3]]
    assert previous == [None, *ids[:2]]
    assert [ledger.submission(name).text for name in ids] == list(texts)
    assert len(ledger.judgements_of_answer("a1")) == 12
