from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import InputError, RecordConflictError, UnknownExamError
from service.exam import Criterion, ExamItem, HumanScore, Question
from service.judgement import RemovedSpan, Stage
from service.ledger import Ledger
from service.records import Inclusion, Rating, Record
from tests.service.exam_world import QUESTION, answer, judgements, question, run, submission

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def records(ledger: Ledger) -> list[Record]:
    return [logged.record for logged in ledger.after(0, 1000)]


def test_records_come_back_as_they_were_written_and_in_order(ledger: Ledger) -> None:
    ledger.record(run(), [QUESTION], [submission()], judgements())
    assert records(ledger) == [
        QUESTION,
        run(),
        submission(),
        *judgements(),
        *[Inclusion("run-1", judgement.judgement_id) for judgement in judgements()],
    ]


def test_the_log_is_read_in_portions(ledger: Ledger) -> None:
    ledger.record(run(), [QUESTION], [submission()], judgements())
    read, seq = [], 0
    while portion := ledger.after(seq, 2):
        assert len(portion) <= 2
        read += [logged.record for logged in portion]
        seq = portion[-1].seq
    assert read == records(ledger)
    assert seq == ledger.last_seq()


def test_a_judgement_is_found_by_its_id_and_by_its_answer(ledger: Ledger) -> None:
    ledger.record(run(), [QUESTION], [submission()], judgements())
    for judgement in judgements():
        assert ledger.find(judgement.judgement_id) == judgement
        assert ledger.judgement(judgement.judgement_id) == judgement
    assert ledger.judgements_of_answer("a1") == judgements()
    assert ledger.judgements_of_answer("a1", "Tides") == judgements()
    assert ledger.judgements_of_answer("a1", "Winds") == []


def test_the_first_judgement_with_a_result_is_found_by_its_key(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(run(), [QUESTION], [submission()], judgements())
    filtering, baseline, _ = judgements()
    other, later = submission(name="sub-2"), judgements("sub-2", "later")
    ledger.record(run("run-2"), [QUESTION], [other], later)
    ledger.close()
    ledger = Ledger(path)
    for judgement in (*judgements(), *later):
        first = filtering if judgement.stage is Stage.FILTER else baseline
        assert ledger.find_result(judgement.result_key(other.text)) == first
    assert ledger.find_result(filtering.result_key("another text")) is None
    ledger.close()


def test_what_nobody_recorded_is_unknown(ledger: Ledger) -> None:
    assert ledger.find("nothing") is None
    with pytest.raises(UnknownExamError, match="nothing"):
        ledger.judgement("nothing")
    with pytest.raises(UnknownExamError, match="q1"):
        ledger.question("Tides", "q1")
    with pytest.raises(UnknownExamError, match="Tides"):
        ledger.questions("Tides")


def test_everything_is_there_after_a_restart(path: Path) -> None:
    first = Ledger(path)
    first.record(run(), [QUESTION], [submission()], judgements())
    before = first.ledger_id, first.admit([(QUESTION, answer())]), records(first)
    first.close()
    second = Ledger(path)
    assert (second.ledger_id, second.admit([(QUESTION, answer())]), records(second)) == before
    second.close()


def test_recording_again_adds_nothing(ledger: Ledger) -> None:
    ledger.record(run(), [QUESTION], [submission()], judgements())
    before = ledger.last_seq()
    ledger.record(run(), [QUESTION], [submission()], judgements())
    assert ledger.last_seq() == before


def test_another_run_only_points_to_what_is_there(ledger: Ledger) -> None:
    ledger.record(run(), [QUESTION], [submission()], judgements())
    before = ledger.last_seq()
    ledger.record(run("run-2"), [QUESTION], [submission()], judgements())
    assert [logged.record for logged in ledger.after(before, 100)] == [
        run("run-2"),
        *[Inclusion("run-2", judgement.judgement_id) for judgement in judgements()],
    ]


def test_an_edited_question_is_a_new_version_and_the_latest_wins(ledger: Ledger) -> None:
    edited = replace(QUESTION, gold_points=(*QUESTION.gold_points, Criterion("the Sun", 2)))
    for version in (QUESTION, QUESTION, edited, edited, QUESTION):
        ledger.register_questions([version])
    assert records(ledger) == [QUESTION, edited, QUESTION]
    assert ledger.question("Tides", "q1") == QUESTION


def test_questions_of_an_exam_come_in_the_order_of_registration(ledger: Ledger) -> None:
    late, early = question("q9"), question("q2")
    edited = replace(late, text="Why not three?")
    ledger.register_questions([late, early, edited, question("q1", exam_id="Winds")])
    assert ledger.questions("Tides") == [edited, early]


def test_a_changed_rating_is_logged_again(ledger: Ledger) -> None:
    for score in (7.0, 7.0, 8.5):
        ledger.register([ExamItem(QUESTION, answer(), (HumanScore("rater1", score),))])
    ratings = [record for record in records(ledger) if isinstance(record, Rating)]
    assert ratings == [
        Rating("Tides", "q1", "a1", "s1", "rater1", 7.0),
        Rating("Tides", "q1", "a1", "s1", "rater1", 8.5),
    ]


@pytest.mark.parametrize(
    ("student", "question_id"), [("somebody else", "q1"), ("s1", "another question")]
)
def test_an_answer_belongs_to_one_student_and_one_question(
    ledger: Ledger, student: str, question_id: str
) -> None:
    mine, intruder = (QUESTION, answer()), (question(question_id), answer(student_id=student))
    [salt, refusal] = ledger.admit([mine, intruder])
    assert isinstance(salt, bytes)
    assert isinstance(refusal, InputError)

    ledger.record(run(), [QUESTION], [submission()], judgements())
    [refusal] = ledger.admit([intruder])
    assert isinstance(refusal, InputError)
    assert "'a1'" in str(refusal)
    with pytest.raises(InputError, match="'a1'"):
        ledger.register([ExamItem(*intruder)])


def test_an_answer_that_was_only_admitted_belongs_to_nobody_yet(ledger: Ledger) -> None:
    ledger.admit([(replace(QUESTION, text="Why not three?"), answer(student_id="a typing error"))])
    assert records(ledger) == []
    [salt] = ledger.admit([(QUESTION, answer())])
    assert isinstance(salt, bytes)


def test_an_answer_that_somebody_took_meanwhile_is_recorded_whole_or_not(ledger: Ledger) -> None:
    theirs = question("q2")
    ledger.admit([(QUESTION, answer())])
    ledger.register([ExamItem(theirs, answer(student_id="s2"))])
    with pytest.raises(RecordConflictError, match="'s2'"):
        ledger.record(run(), [QUESTION], [submission()], judgements())
    assert records(ledger) == [theirs]


def test_a_question_that_came_with_an_answer_speaks_for_no_other(ledger: Ledger) -> None:
    ledger.record(run(), [QUESTION], [submission()], judgements())
    assert records(ledger)[0] == QUESTION
    with pytest.raises(UnknownExamError):
        ledger.question("Tides", "q1")
    edited = replace(QUESTION, text="Why not three?")
    [salt] = ledger.admit([(edited, answer(answer_id="a2"))])
    assert isinstance(salt, bytes)
    ledger.register_questions([edited])
    assert ledger.question("Tides", "q1") == edited
    assert ledger.questions("Tides") == [edited]


def test_a_question_that_differs_from_the_registered_one_is_refused(ledger: Ledger) -> None:
    ledger.register_questions([QUESTION])
    [refusal] = ledger.admit([(replace(QUESTION, rubric="give 10 to all"), answer())])
    assert isinstance(refusal, InputError)
    assert "another rubric;" in str(refusal)
    [salt] = ledger.admit([(QUESTION, answer())])
    assert isinstance(salt, bytes)
    assert ledger.question("Tides", "q1") == QUESTION


def test_a_question_that_was_registered_anew_meanwhile_stays_so(ledger: Ledger) -> None:
    edited = replace(QUESTION, text="Why not three?")
    ledger.admit([(QUESTION, answer())])
    ledger.register_questions([edited])
    ledger.record(run(), [QUESTION], [submission()], judgements())
    assert ledger.question("Tides", "q1") == edited
    assert [record for record in records(ledger) if isinstance(record, Question)] == [edited]


def test_answers_of_different_exams_may_have_the_same_id(ledger: Ledger) -> None:
    other = question(exam_id="Winds")
    salts = ledger.admit([(QUESTION, answer()), (other, answer(student_id="s2"))])
    assert all(isinstance(salt, bytes) and len(salt) == 16 for salt in salts)
    assert salts[0] != salts[1]


def test_another_result_under_the_same_id_is_refused_whole(ledger: Ledger) -> None:
    ledger.record(run(), [QUESTION], [submission()], judgements())
    before = records(ledger)
    filtering, baseline, filtered = judgements()
    other = replace(baseline, predicted_score=3.0, raw_output="Answer: 3")
    with pytest.raises(RecordConflictError):
        ledger.record(run("run-2"), [QUESTION], [submission()], [filtering, other, filtered])
    assert records(ledger) == before


def test_threads_at_once_add_nothing_double(path: Path) -> None:
    ledgers = [Ledger(path), Ledger(path)]

    def work(number: int) -> bytes:
        ledger = ledgers[number % 2]
        [salt] = ledger.admit([(QUESTION, answer())])
        ledger.record(run(), [QUESTION], [submission()], judgements())
        assert isinstance(salt, bytes)
        return salt

    with ThreadPoolExecutor(8) as pool:
        salts = set(pool.map(work, range(24)))
    assert len(salts) == 1
    kinds = Counter(type(record).__name__ for record in records(ledgers[0]))
    assert kinds == {"Question": 1, "Run": 1, "Submission": 1, "Judgement": 3, "Inclusion": 3}
    for ledger in ledgers:
        ledger.close()


def test_a_listener_hears_of_writes(ledger: Ledger) -> None:
    heard: list[int] = []
    ledger.subscribe(lambda: heard.append(ledger.last_seq()))
    ledger.register_questions([QUESTION])
    assert heard == [1]


def test_every_ledger_has_a_name_of_its_own(ledger: Ledger, tmp_path: Path) -> None:
    other = Ledger(tmp_path / "other.sqlite3")
    assert ledger.ledger_id != other.ledger_id
    other.close()


@settings(max_examples=30, deadline=None)
@given(text=ANY_TEXT, cleaned=ANY_TEXT, name=ANY_TEXT)
def test_any_text_comes_back_as_it_was(text: str, cleaned: str, name: str) -> None:
    asked = replace(QUESTION, question_id=name, text=text, gold_answer=cleaned)
    received = replace(submission(text), question_id=name, attack_type=name)
    [filtering] = [
        replace(
            judgement,
            question_id=name,
            attack_type=name,
            prompt=text,
            raw_output=cleaned,
            cleaned_answer=cleaned,
            removed_spans=(RemovedSpan(0, len(text), text, 1.0),),
        )
        for judgement in judgements()[:1]
    ]
    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite3")
        ledger.register_questions([asked])
        ledger.record(run(), [asked], [received], [filtering])
        assert ledger.question("Tides", name) == asked
        assert received in records(ledger)
        assert ledger.find(filtering.judgement_id) == filtering
        ledger.close()


def test_a_lone_surrogate_is_refused_and_nothing_is_written(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="Unicode"):
        ledger.register_questions([question("q2"), replace(QUESTION, text="broken \ud800")])
    assert records(ledger) == []
