from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.synthetic import answers
from benchmarks.synthetic_records import graded_exam
from service.judgement import Judgement, Stage
from service.ledger import Ledger
from service.records import Submission


@given(st.integers(0, 500), st.integers(1, 60))
def test_answers_are_all_different_and_always_the_same(first: int, count: int) -> None:
    made = list(answers(count, "exam", first=first))
    assert len({item.answer.text for item in made}) == count
    assert len({item.answer.answer_id for item in made}) == count
    assert made == list(answers(first + count, "exam"))[first:]


def test_the_ledger_takes_an_exam(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    ledger.register(list(answers(100, "exam")))
    assert len(ledger.questions("exam")) == 10
    ledger.close()


def test_judgements_of_a_graded_exam_are_whole() -> None:
    exam = graded_exam(3, 20)
    assert len(exam.answers) == 20
    attacked = 0
    for records in exam.answers:
        [submission] = [each for each in records if isinstance(each, Submission)]
        judgements = {each.stage: each for each in records if isinstance(each, Judgement)}
        assert list(judgements) == [Stage.BASELINE, Stage.FILTER, Stage.FILTERED]
        assert judgements[Stage.FILTERED].based_on == judgements[Stage.FILTER].judgement_id
        cleaned = judgements[Stage.FILTER].cleaned_answer
        assert cleaned is not None
        for span in judgements[Stage.FILTER].removed_spans:
            attacked += 1
            assert submission.text[span.start : span.end] == span.text
        removed = sum(len(span.text) for span in judgements[Stage.FILTER].removed_spans)
        assert len(submission.text) == len(cleaned) + removed
    assert attacked == 4
