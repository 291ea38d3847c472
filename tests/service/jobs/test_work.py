"""Jobs worked off on an engine whose answers are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from service.engine.base import GradeCompletion, GradeRequest
from service.errors import EngineError, LedgerError, NotReadyError
from service.jobs import Job, JobState, JobStore, NewItem, Reason, items_of_exam, results
from service.jobs.work import JobWork
from service.ledger import Ledger
from service.pipeline import GradedAnswer, GradingPipeline
from service.records import Run, RunKind
from tests.service.exam_world import QUESTION, answer
from tests.service.jobs.samples import new_item, new_items
from tests.service.scripted_engine import ScriptedEngine, by_length


@pytest.fixture
def work(
    store: JobStore,
    ledger: Ledger,
    pipeline: GradingPipeline,
    monkeypatch: pytest.MonkeyPatch,
) -> JobWork:
    # The scripted filter knows nothing of the canary's attack.
    monkeypatch.setattr("service.pipeline.check_canary", lambda _: None)
    return JobWork(store, ledger, lambda: pipeline, lambda: False)


def run_all(work: JobWork, store: JobStore, items: list[NewItem]) -> Job:
    job = store.create(items, None)
    while not job.state.ended:
        job = work.advance(job.job_id)
    return job


def fail_on(text: str, error: Exception, engine: ScriptedEngine) -> None:
    def grade(request: GradeRequest) -> GradeCompletion:
        if text in request.prompt.tail:
            raise error
        return by_length(request)

    engine.grade_by = grade


def test_results_come_from_the_ledger_in_the_order_of_the_job(
    work: JobWork, store: JobStore, ledger: Ledger, pipeline: GradingPipeline
) -> None:
    items = [
        new_item(number, None, replace(QUESTION, question_id=f"q{number % 3}"))
        for number in range(40)
    ]
    job = run_all(work, store, items)
    found = list(results(store, ledger, job.job_id))
    assert [result.submission.answer_id for result in graded(found)] == [
        item.answer_id for item in items
    ]
    again = pipeline.grade(items[3].question, answer(str(items[3].text), "a3", "s3"))
    assert found[3] == replace(again, submission=found[3].submission)  # type: ignore[union-attr]


def graded(found: Sequence[object]) -> list[GradedAnswer]:
    assert all(isinstance(result, GradedAnswer) for result in found)
    return [result for result in found if isinstance(result, GradedAnswer)]


def test_a_job_is_one_run_of_its_own_name(work: JobWork, store: JobStore, ledger: Ledger) -> None:
    job = run_all(work, store, new_items(40))
    runs = [logged.record for logged in ledger.after(0, 10_000) if isinstance(logged.record, Run)]
    assert [(run.run_id, run.kind) for run in runs] == [(job.job_id, RunKind.BATCH)]


def test_what_was_graded_before_a_crash_is_not_graded_twice(
    work: JobWork,
    store: JobStore,
    ledger: Ledger,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = store.create(new_items(5), None)
    with monkeypatch.context() as patched:
        patched.setattr(store, "settle", lambda *_: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            work.advance(job.job_id)
    asked, recorded = len(engine.graded), ledger.last_seq()
    job = work.advance(job.job_id)
    assert (job.state, job.counts.graded) == (JobState.DONE, 5)
    assert (len(engine.graded), ledger.last_seq()) == (asked, recorded)


def test_an_answer_that_breaks_the_engine_fails_alone_and_may_be_tried_again(
    work: JobWork, store: JobStore, engine: ScriptedEngine
) -> None:
    fail_on("The Moon pulls, 3.", EngineError("out of memory"), engine)
    job = run_all(work, store, new_items(20))
    assert (job.counts.graded, job.failures) == (19, {Reason.ENGINE: 1})
    [failed] = [item for item in store.items(job.job_id, 0, 100) if item.failure]
    assert (failed.answer_id, failed.failure and failed.failure.detail) == ("a3", "out of memory")
    engine.grade_by = by_length
    job = work.advance(store.resume(job.job_id).job_id)
    assert (job.state, job.counts.graded) == (JobState.DONE, 20)


def test_what_is_erased_while_it_is_graded_is_not_recorded_and_the_others_are(
    work: JobWork, store: JobStore, ledger: Ledger, engine: ScriptedEngine
) -> None:
    def grade(request: GradeRequest) -> GradeCompletion:
        ledger.withdraw(store.erase("s2", None))
        return by_length(request)

    engine.grade_by = grade
    job = run_all(work, store, new_items(4))
    assert (job.counts.graded, job.failures) == (3, {Reason.ERASED: 1})
    assert [len(ledger.judgements_of_answer(f"a{number}")) for number in range(4)] == [3, 3, 0, 3]


def test_a_recorded_text_that_is_erased_while_it_is_graded_again_fails(
    work: JobWork, store: JobStore, ledger: Ledger
) -> None:
    run_all(work, store, new_items(3))
    first_results = ledger.judgements_of_answer("a1")

    def grade(request: GradeRequest) -> GradeCompletion:
        ledger.erase(ledger.answers_with_texts("s1"), by="registrar", reason="asked")
        return by_length(request)

    another = ScriptedEngine(grade, name="another")
    work = JobWork(store, ledger, lambda: GradingPipeline(another, ledger=ledger), lambda: False)
    job = run_all(work, store, items_of_exam(ledger, QUESTION.exam_id))
    assert (job.counts.graded, job.failures) == (2, {Reason.ERASED: 1})
    assert len(ledger.judgements_of_answer("a1")) == len(first_results)
    assert ledger.answers_with_texts("s1") == []


def test_an_unforeseen_error_is_the_answers_own(
    work: JobWork, store: JobStore, engine: ScriptedEngine
) -> None:
    fail_on("The Moon pulls, 1.", RuntimeError("a bug with a private text"), engine)
    job = run_all(work, store, new_items(3))
    assert job.failures == {Reason.INTERNAL: 1}
    [failed] = [item for item in store.items(job.job_id, 0, 100) if item.failure]
    assert failed.failure is not None
    assert "private" not in failed.failure.detail


def test_an_answer_that_is_too_long_is_refused(
    work: JobWork, store: JobStore, engine: ScriptedEngine
) -> None:
    job = run_all(work, store, [new_item(1), new_item(2, "word " * 4000)])
    assert job.failures == {Reason.PROMPT_TOO_LONG: 1}
    assert engine.graded


def test_while_the_engine_is_away_nothing_fails(
    work: JobWork,
    store: JobStore,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away = EngineError("no server answers")

    def refuse(_: object) -> None:
        raise away

    job = store.create(new_items(3), None)
    with monkeypatch.context() as patched:
        patched.setattr("service.pipeline.check_canary", refuse)
        fail_on("", away, engine)
        with pytest.raises(EngineError):
            work.advance(job.job_id)
    job = store.job(job.job_id)
    assert (job.counts.waiting, job.problem) == (3, "no server answers")
    engine.grade_by = by_length
    job = work.advance(job.job_id)
    assert (job.counts.graded, job.problem) == (3, None)


def test_a_ledger_that_cannot_be_written_fails_no_answer(
    work: JobWork, store: JobStore, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LedgerError("disk full")

    job = store.create(new_items(3), None)
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "record", full)
        with pytest.raises(LedgerError):
            work.advance(job.job_id)
    assert store.job(job.job_id).problem == "disk full"
    assert work.advance(job.job_id).counts.graded == 3


def test_a_job_waits_for_a_model_that_is_loading(store: JobStore, ledger: Ledger) -> None:
    def load() -> GradingPipeline:
        raise NotReadyError("the model is loading")

    job = store.create(new_items(3), None)
    with pytest.raises(NotReadyError):
        JobWork(store, ledger, load, lambda: False).advance(job.job_id)
    assert store.job(job.job_id).problem == "the model is loading"


def test_an_answer_at_which_the_process_always_ends_fails_at_last(
    work: JobWork, store: JobStore
) -> None:
    job = store.create(new_items(2), None)
    for _ in range(5):
        store.take(job.job_id, 1)  # and the process ends
    while not job.state.ended:
        job = work.advance(job.job_id)
    assert (job.counts.graded, job.failures) == (1, {Reason.CRASH: 1})


def test_an_exam_is_graded_again_from_the_texts_of_the_ledger(
    work: JobWork, store: JobStore, ledger: Ledger, pipeline: GradingPipeline
) -> None:
    pipeline.grade(QUESTION, answer("first", "a1"))
    pipeline.grade(QUESTION, answer("second", "a1"))
    pipeline.grade(QUESTION, answer("attacked", "a1", attack_type="stealth"))
    items = items_of_exam(ledger, "Tides")
    assert [item.text for item in items] == [None, None]
    job = run_all(work, store, items)
    found = graded(list(results(store, ledger, job.job_id)))
    assert [result.submission.text for result in found] == ["second", "attacked"]
