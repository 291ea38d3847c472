"""The file of batch jobs."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import JobStateError, JobStoreError, QueueFullError, UnknownExamError
from service.jobs import Failure, Job, JobState, JobStore, Reason
from service.jobs.job import Outcome
from tests.service.exam_world import question
from tests.service.jobs.samples import new_item, new_items


def graded(position: int) -> Outcome:
    return Outcome(position, f"baseline-{position}", f"filtered-{position}")


def failed(position: int, reason: Reason = Reason.ENGINE) -> Outcome:
    return Outcome(position, failure=Failure(reason, f"why {position}"))


def finished(store: JobStore, *outcomes: Outcome) -> Job:
    """A job that ended so."""
    job = store.create(new_items(len(outcomes)), None)
    return store.settle(job.job_id, outcomes, 1.0)


def test_a_job_is_queued_runs_and_is_done(store: JobStore) -> None:
    job = store.create(new_items(3), "ste_abc")
    assert (job.state, job.created_by, job.exams) == (JobState.QUEUED, "ste_abc", ("Tides",))
    assert (job.counts.total, job.counts.waiting, job.started_at) == (3, 3, None)
    taken = store.take(job.job_id, 2)
    assert [item.position for item in taken] == [1, 2]
    assert store.job(job.job_id).state is JobState.RUNNING
    job = store.settle(job.job_id, [graded(1), failed(2)], 0.5)
    assert (job.counts.graded, job.counts.failed, job.counts.waiting) == (1, 1, 1)
    assert job.failures == {Reason.ENGINE: 1}
    assert job.seconds_left == 2.0
    job = store.settle(job.job_id, [graded(3)], 0.5)
    assert job.state is JobState.DONE
    assert job.ended_at is not None
    assert job.seconds_left is None


def test_a_job_outlives_its_process(store: JobStore) -> None:
    items = [new_item(1, "", attack_type="clean"), new_item(2, "näïve 🌊", question("q2"))]
    job = store.create(items, None)
    with JobStore(store.path, most_jobs=4) as other:
        found = other.items(job.job_id, 0, 10)
        assert other.job(job.job_id) == job
    fields = ("question", "answer_id", "student_id", "attack_type", "text", "submission_id")
    assert [[getattr(item, field) for field in fields] for item in found] == [
        [getattr(item, field) for field in fields] for item in items
    ]
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_the_same_answers_are_the_same_job_until_it_has_ended(store: JobStore) -> None:
    first = store.create(new_items(2), "ste_abc")
    assert store.create(new_items(2), "ste_abc").job_id == first.job_id
    assert store.create(new_items(2), "ste_other").job_id != first.job_id
    assert store.create([new_item(0), new_item(1, "other")], "ste_abc").job_id != first.job_id
    store.cancel(first.job_id)
    assert store.create(new_items(2), "ste_abc").job_id != first.job_id


def test_no_more_jobs_wait_than_may(store: JobStore) -> None:
    jobs = [store.create([new_item(number)], None) for number in range(4)]
    with pytest.raises(QueueFullError, match="4"):
        store.create([new_item(9)], None)
    store.cancel(jobs[0].job_id)
    store.create([new_item(9)], None)
    with pytest.raises(QueueFullError):
        store.resume(jobs[0].job_id)


def test_answers_of_one_question_are_taken_together(store: JobStore) -> None:
    items = [new_item(number, None, question(f"q{number % 2}")) for number in range(6)]
    job = store.create(items, None)
    taken = store.take(job.job_id, 10)
    assert [item.question.question_id for item in taken] == ["q0", "q0", "q0"]


def test_what_is_settled_keeps_no_text_unless_it_may_pass_another_time(store: JobStore) -> None:
    job = finished(store, graded(1), failed(2), failed(3, Reason.PROMPT_TOO_LONG))
    texts = [item.text for item in store.items(job.job_id, 0, 10)]
    assert texts == [None, "The Moon pulls, 1.", None]


def test_a_deleted_text_is_not_left_in_the_file(store: JobStore) -> None:
    job = store.create([new_item(1, "a very private answer")], None)
    store.settle(job.job_id, [graded(1)], None)
    path = store.path
    store.close()
    assert b"very private" not in path.read_bytes()


def test_erased_texts_are_not_graded_and_hold_up_no_job(store: JobStore) -> None:
    mine = replace(new_item(1, "mine"), student_id="ana")
    job = store.create([mine, replace(new_item(2, "another's"), student_id="ben")], None)
    only = store.create([replace(new_item(3, "mine too"), student_id="ana")], None)
    exam_id = mine.question.exam_id
    assert store.count_texts("ana", None) == store.count_texts("ana", exam_id) == 2
    assert store.erase("ana", "elsewhere") == []
    assert store.count_texts("ana", None) == 2
    assert sorted(store.erase("ana", exam_id)) == [(exam_id, "a1"), (exam_id, "a3")]
    assert store.count_texts("ana", None) == 0
    assert [item.text for item in store.take(job.job_id, 10)] == ["another's"]
    assert store.job(job.job_id).failures == {Reason.ERASED: 1}
    assert store.job(only.job_id).state is JobState.DONE


def test_resuming_tries_again_what_may_pass(store: JobStore) -> None:
    job = finished(store, graded(1), failed(2), failed(3, Reason.INVALID))
    job = store.resume(job.job_id)
    assert (job.state, job.counts.waiting, job.counts.failed) == (JobState.QUEUED, 1, 1)
    assert [item.position for item in store.take(job.job_id, 10)] == [2]
    job = store.settle(job.job_id, [graded(2)], None)
    assert (job.state, job.counts.graded) == (JobState.DONE, 2)
    with pytest.raises(JobStateError, match="left"):
        store.resume(job.job_id)


def test_cancelling_and_resuming_twice_change_nothing(store: JobStore) -> None:
    job_id = store.create(new_items(2), None).job_id
    assert store.cancel(job_id) == store.cancel(job_id)
    assert store.unfinished() == []
    assert store.resume(job_id) == store.resume(job_id)
    assert store.unfinished() == [job_id]


def test_a_job_that_is_done_cannot_be_cancelled(store: JobStore) -> None:
    job = finished(store, graded(1))
    with pytest.raises(JobStateError, match="done"):
        store.cancel(job.job_id)


def test_what_was_graded_while_a_job_was_cancelled_counts(store: JobStore) -> None:
    job_id = store.create(new_items(2), None).job_id
    store.take(job_id, 1)
    store.cancel(job_id)
    job = store.settle(job_id, [graded(1)], None)
    assert (job.state, job.counts.graded, job.counts.waiting) == (JobState.CANCELLED, 1, 1)


def test_an_answer_that_was_there_at_crashes_comes_alone_and_last(store: JobStore) -> None:
    job_id = store.create(new_items(3), None).job_id
    for _ in range(2):
        store.take(job_id, 2)  # and the process ends
    assert [item.position for item in store.take(job_id, 3)] == [3]
    store.settle(job_id, [graded(3)], None)
    [alone] = store.take(job_id, 3)
    assert (alone.position, alone.tries) == (1, 2)


def test_what_is_given_back_has_not_been_tried(store: JobStore) -> None:
    job_id = store.create(new_items(2), None).job_id
    for _ in range(5):
        store.give_back(job_id, store.take(job_id, 2), "the engine is away")
    assert store.job(job_id).problem == "the engine is away"
    assert [item.tries for item in store.take(job_id, 2)] == [0, 0]
    assert store.settle(job_id, [graded(1)], None).problem is None


@pytest.mark.parametrize("call", ["job", "cancel", "resume"])
def test_an_unknown_job_is_named(store: JobStore, call: str) -> None:
    with pytest.raises(UnknownExamError, match="no-such"):
        getattr(store, call)("no-such")


def test_a_job_that_ended_long_ago_is_forgotten(store: JobStore) -> None:
    old = finished(store, graded(1))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE job SET ended_at = '2020-01-01T00:00:00+00:00'")
    store.create(new_items(2), None)
    with pytest.raises(UnknownExamError):
        store.job(old.job_id)
    assert store.items(old.job_id, 0, 10) == []


def test_a_file_of_a_newer_version_is_refused(store: JobStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(JobStoreError, match="upgrade"):
        JobStore(store.path, most_jobs=4)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite3"
    path.write_text("hello" * 1000)
    with pytest.raises(JobStoreError, match=r"jobs\.sqlite3"):
        JobStore(path, most_jobs=4)


@settings(max_examples=20)  # each waits for the disk many times
@given(takes=st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=15))
def test_whenever_it_crashes_every_answer_is_settled_once(
    tmp_path_factory: pytest.TempPathFactory, takes: list[tuple[int, bool]]
) -> None:
    path = tmp_path_factory.mktemp("jobs") / "jobs.sqlite3"
    settled: list[int] = []
    with JobStore(path, most_jobs=1) as store:
        job = store.create(new_items(7), None)
        # A take without a settle is a crash.
        for limit, settles in [*takes, *[(7, True)] * 7]:
            taken = store.take(job.job_id, limit)
            if settles:
                settled += [item.position for item in taken]
                job = store.settle(job.job_id, [graded(item.position) for item in taken], None)
    assert sorted(settled) == [1, 2, 3, 4, 5, 6, 7]
    assert job.state is JobState.DONE
    assert replace(job.counts, total=0).graded == 7
