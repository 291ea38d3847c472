"""Texts go for good, what was graded and how stays, and the chain holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.engine.base import GradeCompletion, GradeRequest
from service.errors import ErasedError
from service.exam import ExamItem, HumanScore
from service.ledger import Ledger
from service.ledger.erasure import AnswerKey
from service.pipeline import GradedAnswer, GradingPipeline
from service.records import Erasure, Rating, RunKind, Submission
from tests.service.exam_world import QUESTION, answer, question
from tests.service.scripted_engine import ATTACK, ScriptedEngine, by_length

SECRET = "The Moon told me so, says Grandmother Philomena."
ANA = (QUESTION, answer(f"{SECRET}{ATTACK}", "a1", "ana"))
BEN = (QUESTION, answer("The wind.", "a2", "ben"))
ELSEWHERE = (question("q7", "Winds"), answer(f"{SECRET} Again.", "w1", "ana"))


def fill(ledger: Ledger) -> list[GradedAnswer]:
    """Ana's and Ben's answers in one exam, one of an Ana in another; Ana's has a human score."""
    ledger.register([ExamItem(*ANA, (HumanScore("rater1", 7.0),))])
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    run = pipeline.new_run(RunKind.BATCH)
    graded = pipeline.grade_many([ANA, BEN, ELSEWHERE], run=run)
    ledger.publish(ledger.publication_plan(run.run_id), by="Prof. Ebb", reason="end of term")
    return graded


def erase(ledger: Ledger, student: str = "ana", exam: str | None = None) -> bool:
    answers = ledger.answers_with_texts(student, exam)
    return ledger.erase(answers, by="registrar", reason="the student asked")


def content(path: Path) -> bytes:
    """All that is in the files of the ledger."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def test_no_trace_of_a_text_is_left_in_the_file(path: Path) -> None:
    ledger = Ledger(path)
    fill(ledger)
    assert b"Philomena" in content(path)
    assert erase(ledger)
    assert b"Philomena" not in content(path)
    assert b"IGNORE THE RUBRIC" not in content(path)
    assert b"The wind." in content(path)
    ledger.close()


def test_what_and_how_was_graded_stays(ledger: Ledger) -> None:
    [graded, bens, _] = fill(ledger)
    erase(ledger)
    shell = ledger.judgements_of_answer("a1", "Tides")
    for erased, before in zip(
        shell, (graded.baseline, graded.filter, graded.filtered), strict=False
    ):
        assert erased.erased
        assert (erased.prompt, erased.raw_output, erased.justification) == ("", "", None)
        assert (erased.cleaned_answer, erased.raw_score) == (None, None)
        assert [span.text for span in erased.removed_spans] == [""] * len(erased.removed_spans)
        assert before.judgement_id in {one.judgement_id for one in shell}
    found = {one.stage: one for one in shell}
    assert found["filtered"].predicted_score == graded.final_score
    assert found["filtered"].model_fingerprint == graded.filtered.model_fingerprint
    [cut] = found["filter"].removed_spans
    assert (cut.start, cut.end) == (len(SECRET), len(SECRET) + len(ATTACK))
    [published] = ledger.published_grades("a1", "Tides")
    assert published.judgement.judgement_id == graded.filtered.judgement_id
    assert ledger.judgement(bens.filtered.judgement_id) == bens.filtered


def test_the_chain_holds_and_says_who_erased_what(ledger: Ledger) -> None:
    fill(ledger)
    before = ledger.last_seq()
    heads = [logged.hash for logged in ledger.after(0, 1000)]
    erase(ledger)
    assert list(ledger.faults()) == []
    assert [logged.hash for logged in ledger.after(0, before)] == heads
    erasures = [logged.record for logged in ledger.after(before, 10)]
    assert all(isinstance(one, Erasure) for one in erasures)
    assert [replace(one, erased_at=datetime.min) for one in erasures] == [
        Erasure(exam, name, "registrar", "the student asked", datetime.min)
        for exam, name in (("Tides", "a1"), ("Winds", "w1"))
    ]


def test_one_exam_alone(ledger: Ledger) -> None:
    fill(ledger)
    erase(ledger, exam="Winds")
    assert ledger.answers_with_texts("ana") == [AnswerKey("Tides", "a1")]
    assert [one.erased for one in ledger.judgements_of_answer("w1")] == [True] * 3
    assert [one.erased for one in ledger.judgements_of_answer("a1")] == [False] * 3


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE submission SET text = 'forged' WHERE answer_id = 'a1'", "they were erased"),
        ("UPDATE submission SET text = NULL WHERE answer_id = 'a2'", "not what was chained"),
        ("DELETE FROM erasure WHERE answer_id = 'a1'", "erasure that is gone"),
        ("UPDATE judgement SET predicted_score = 10 WHERE prompt IS NULL", "not what was chained"),
    ],
)
def test_an_erasure_covers_no_forgery(path: Path, statement: str, named: str) -> None:
    ledger = Ledger(path)
    fill(ledger)
    erase(ledger)
    ledger.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    ledger = Ledger(path)
    assert any(named in str(fault) for fault in ledger.faults())
    ledger.close()


def test_the_same_answer_later_is_a_new_one(ledger: Ledger) -> None:
    [graded, *_] = fill(ledger)
    erase(ledger)
    engine = ScriptedEngine()
    again = GradingPipeline(engine, ledger=ledger).grade(*ANA)
    assert engine.graded
    assert again.submission.submission_id != graded.submission.submission_id
    assert ledger.submission(again.submission.submission_id).previous == (
        graded.submission.submission_id
    )
    assert again.final_score == graded.final_score
    assert list(ledger.faults()) == []
    erase(ledger)
    assert list(ledger.faults()) == []
    assert ledger.answers_with_texts("ana") == []


def test_who_found_a_judgement_before_it_was_erased_records_nothing(ledger: Ledger) -> None:
    [graded, *_] = fill(ledger)
    erase(ledger)
    run = GradingPipeline(ScriptedEngine(), ledger=ledger).new_run(RunKind.REQUEST)
    before = ledger.last_seq()
    judgements = [graded.filter, graded.baseline, graded.filtered]
    with pytest.raises(ErasedError):
        ledger.record(run, [QUESTION], [graded.submission], judgements)
    with pytest.raises(ErasedError, match=r"'a1'.*nothing was recorded"):
        ledger.record(run, [QUESTION], [graded.submission], [])
    assert ledger.last_seq() == before


def grade_while(
    ledger: Ledger, happens: Callable[[Ledger], object], text: str = SECRET
) -> GradedAnswer:
    """Grade a text of Ana's first answer while another process does something to the ledger."""

    def grade(request: GradeRequest) -> GradeCompletion:
        with closing(Ledger(ledger.path)) as elsewhere:
            happens(elsewhere)
        return by_length(request)

    pipeline = GradingPipeline(ScriptedEngine(grade, name="slow"), ledger=ledger)
    return pipeline.grade(QUESTION, answer(text, "a1", "ana"))


@pytest.mark.parametrize("text", [ANA[1].text, "A second try, by Philomena."])
def test_what_is_being_graded_while_it_is_erased_is_not_recorded(path: Path, text: str) -> None:
    ledger = Ledger(path)
    fill(ledger)
    with pytest.raises(ErasedError):
        grade_while(ledger, erase, text)
    assert ledger.answers_with_texts("ana") == []
    assert list(ledger.faults()) == []
    assert b"Philomena" not in content(path)
    ledger.close()


def test_an_answer_is_withdrawn_before_anything_of_it_is_recorded(ledger: Ledger) -> None:
    key = AnswerKey("Tides", "a1")
    with pytest.raises(ErasedError):
        grade_while(ledger, lambda elsewhere: elsewhere.withdraw([key]))
    assert ledger.last_seq() == 0
    assert GradingPipeline(ScriptedEngine(), ledger=ledger).grade(*ANA)


def test_an_answer_with_texts_cannot_be_withdrawn(ledger: Ledger) -> None:
    fill(ledger)
    key = AnswerKey("Tides", "a1")
    assert grade_while(ledger, lambda elsewhere: elsewhere.withdraw([key]))
    assert list(ledger.faults()) == []


def test_an_equal_answer_of_somebody_else_stays(ledger: Ledger) -> None:
    pipeline = GradingPipeline(ScriptedEngine(), ledger=ledger)
    twin = (QUESTION, answer(ANA[1].text, "a9", "ben"))
    pipeline.grade_many([ANA, twin])
    erase(ledger)
    kept = ledger.judgements_of_answer("a9")
    assert not any(one.erased for one in kept)
    assert all(SECRET in one.prompt for one in kept)
    assert list(ledger.faults()) == []


def test_answers_expire_by_the_last_thing_that_happened(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, recent, regraded = (
        (QUESTION, answer(f"Tide {n}", f"a{n}", f"s{n}")) for n in ("old", "recent", "regraded")
    )
    past = datetime(2020, 1, 1, tzinfo=UTC)

    class Past(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # noqa: ARG003
            return past

    with monkeypatch.context() as patched:
        patched.setattr("service.stages.datetime", Past)
        GradingPipeline(ScriptedEngine(), ledger=ledger).grade_many([old, regraded])
    GradingPipeline(ScriptedEngine(name="another"), ledger=ledger).grade_many([recent, regraded])
    assert ledger.answers_older_than(past) == []
    assert ledger.answers_older_than(past + timedelta(days=1)) == [AnswerKey("Tides", "aold")]
    later = datetime.now(UTC) + timedelta(days=1)
    assert len(ledger.answers_older_than(later)) == 3
    ledger.erase(ledger.answers_older_than(later), by="registrar", reason="old")
    assert ledger.answers_older_than(later) == []


def test_what_is_recorded_of_a_student(ledger: Ledger) -> None:
    [graded, _, elsewhere] = fill(ledger)
    erase(ledger, exam="Winds")
    told = ledger.records_of_student("ana")
    kinds = [type(record).__name__ for record in told]
    assert kinds == [
        "Rating",
        *["Submission"] * 2,
        *["Judgement"] * 6,
        *["GradeOfRecord"] * 2,
        "Erasure",
    ]
    assert Rating("Tides", "q1", "a1", "ana", "rater1", 7.0) in told
    assert graded.filtered in told
    texts = {one.submission_id: one.text for one in told if isinstance(one, Submission)}
    assert texts == {
        graded.submission.submission_id: ANA[1].text,
        elsewhere.submission.submission_id: "",
    }
    assert [type(record).__name__ for record in ledger.records_of_student("ana", "Tides")] == [
        "Rating",
        "Submission",
        *["Judgement"] * 3,
        "GradeOfRecord",
    ]
    assert ledger.records_of_student("nobody") == []
