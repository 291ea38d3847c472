from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, get_ident

import pytest

from service.engine.worker import Worker
from service.errors import ClientGoneError, DeadlineError, EngineError, PromptTooLongError
from service.patience import Patience, limited_by


class Recorder:
    """Doubles numbers, remembers its batches, and can be held up in its first one."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.threads: set[int] = set()
        self.started = Event()
        self.go_on = Event()

    def double(self, items: Sequence[int]) -> list[object]:
        self.batches.append(list(items))
        self.threads.add(get_ident())
        self.started.set()
        assert self.go_on.wait(30)
        if any(item < 0 for item in items):
            raise ValueError("a negative number")
        return [
            PromptTooLongError("the prompt", item, 99) if item > 99 else 2 * item for item in items
        ]

    def negate(self, items: Sequence[int]) -> list[object]:
        self.batches.append(list(items))
        return [-item for item in items]


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(6000):
        if true():
            return
        time.sleep(0.01)
    raise TimeoutError


def test_results_come_in_the_order_of_the_items_in_batches_of_limited_size() -> None:
    recorder = Recorder()
    recorder.go_on.set()
    worker = Worker({"double": recorder.double}, batch_size=3)
    assert worker.run("double", range(8)) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert worker.run("double", []) == []
    worker.close()
    assert [len(batch) for batch in recorder.batches] == [3, 3, 2]


def test_calls_of_many_threads_that_wait_together_run_as_one_batch_on_one_thread() -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double, "negate": recorder.negate}, batch_size=16)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(worker.run, "double", [1])
        assert recorder.started.wait(30)
        calls = [pool.submit(worker.run, "double", [number]) for number in range(2, 7)]
        other = pool.submit(worker.run, "negate", [7])
        wait_until(lambda: len(worker._waiting) == 6)
        recorder.go_on.set()
        assert first.result() == [2]
        assert [call.result() for call in calls] == [[2 * number] for number in range(2, 7)]
        assert other.result() == [-7]
    worker.close()
    assert sorted(map(len, recorder.batches)) == [1, 1, 5]
    assert len(recorder.threads) == 1
    assert get_ident() not in recorder.threads


def test_a_lone_call_runs_at_once_and_waits_for_no_other() -> None:
    recorder = Recorder()
    recorder.go_on.set()
    worker = Worker({"double": recorder.double}, batch_size=16)
    assert worker.run("double", [1]) == [2]
    worker.close()
    assert recorder.batches == [[1]]


@pytest.mark.parametrize("kind", ["double", "negate"])
@pytest.mark.parametrize("number", [79, 90])
def test_a_call_with_many_items_holds_up_no_other(kind: str, number: int) -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double, "negate": recorder.negate}, batch_size=4)
    with ThreadPoolExecutor(2) as pool:
        exam = pool.submit(worker.run, "double", range(80))
        assert recorder.started.wait(30)
        late = pool.submit(worker.run, kind, [number])
        wait_until(lambda: len(worker._waiting) == 1)
        recorder.go_on.set()
        assert late.result() == [2 * number if kind == "double" else -number]
        assert exam.result() == [2 * item for item in range(80)]
    worker.close()
    assert number in recorder.batches[1]
    ran = [item for batch in recorder.batches for item in batch]
    assert len(ran) == (81 if kind == "negate" else len({*range(80), number}))


def test_who_comes_first_is_served_first() -> None:
    ran: list[int] = []
    coming = [6, 7, 8]
    started, go_on = Event(), Event()

    def note(items: Sequence[int]) -> Sequence[int]:
        ran.extend(items)
        started.set()
        assert go_on.wait(30)
        if coming:
            waiting = len(worker._waiting)
            calls.append(pool.submit(worker.run, "note", [coming.pop(0)]))
            wait_until(lambda: len(worker._waiting) == waiting + 1)
        return items

    worker = Worker({"note": note}, batch_size=1)
    with ThreadPoolExecutor(9) as pool:
        calls = [pool.submit(worker.run, "note", [0])]
        assert started.wait(30)
        for number in range(1, 6):
            calls.append(pool.submit(worker.run, "note", [number]))
            wait_until(lambda number=number: len(worker._waiting) == number)  # type: ignore[misc]
        go_on.set()
        wait_until(lambda: len(ran) == 9)
        assert [call.result() for call in calls] == [[number] for number in range(9)]
    worker.close()
    assert ran == list(range(9))


def test_many_small_calls_do_not_hold_up_a_large_one() -> None:
    recorder = Recorder()
    recorder.go_on.set()
    worker = Worker({"double": recorder.double}, batch_size=1)
    done = Event()

    def ask(first: int) -> None:
        number = first
        while not done.is_set():
            worker.run("double", [number % 100])
            number += 3

    with ThreadPoolExecutor(4) as pool:
        small = [pool.submit(ask, first) for first in range(3)]
        wait_until(lambda: len(recorder.batches) > 10)
        try:
            exam = pool.submit(worker.run, "double", range(50))
            assert exam.result(30) == [2 * number for number in range(50)]
        finally:
            done.set()
        assert [call.result() for call in small] == [None] * 3
    worker.close()


def test_equal_items_that_are_there_at_the_same_time_run_once() -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double, "negate": recorder.negate}, batch_size=16)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(worker.run, "double", [1, 2, 1])
        assert recorder.started.wait(30)
        wait = [pool.submit(worker.run, "double", [5, 2, 6]) for _ in range(3)]
        other = pool.submit(worker.run, "negate", [5])
        wait_until(lambda: len(worker._waiting) == 4)
        recorder.go_on.set()
        assert (first.result(), other.result()) == ([2, 4, 2], [-5])
        assert [call.result() for call in wait] == [[10, 4, 12]] * 3
    assert recorder.batches[0] == [1, 2]
    assert sorted(map(sorted, recorder.batches[1:])) == [[5], [5, 6]]
    assert worker.run("double", [5]) == [10]
    worker.close()
    assert recorder.batches[3] == [5]


def test_a_failure_reaches_all_who_asked_and_nobody_later() -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double}, batch_size=16)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(worker.run, "double", [1])
        assert recorder.started.wait(30)
        bad = [pool.submit(worker.run, "double", [-1]) for _ in range(2)]
        wait_until(lambda: len(worker._waiting) == 2)
        recorder.go_on.set()
        assert first.result() == [2]
        for call in bad:
            with pytest.raises(EngineError, match="ValueError"):
                call.result()
    tried = len(recorder.batches)
    with pytest.raises(EngineError, match="ValueError"):
        worker.run("double", [-1])
    worker.close()
    assert len(recorder.batches) == tried + 1


def test_one_bad_item_fails_its_caller_only() -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double}, batch_size=16)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(worker.run, "double", [1])
        assert recorder.started.wait(30)
        good = pool.submit(worker.run, "double", [2, 3])
        bad = pool.submit(worker.run, "double", [-1])
        wait_until(lambda: len(worker._waiting) == 2)
        recorder.go_on.set()
        assert first.result() == [2]
        assert good.result() == [4, 6]
        with pytest.raises(EngineError, match="ValueError"):
            bad.result()
    assert worker.run("double", [4]) == [8]
    worker.close()


def test_what_a_function_finds_wrong_with_an_item_reaches_its_caller_as_it_is() -> None:
    recorder = Recorder()
    recorder.go_on.set()
    worker = Worker({"double": recorder.double}, batch_size=16)
    with pytest.raises(PromptTooLongError, match="100 tokens"):
        worker.run("double", [100])
    worker.close()
    assert recorder.batches == [[100]]


def test_whoever_gives_up_leaves_and_what_nobody_else_wants_is_not_run() -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double}, batch_size=16)
    patience = Patience(60)

    def impatient(items: Sequence[int]) -> list[int]:
        with limited_by(patience):
            return worker.run("double", items)

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(worker.run, "double", [1])
        assert recorder.started.wait(30)
        shared = pool.submit(worker.run, "double", [2])
        gone = pool.submit(impatient, [2, 3])
        wait_until(lambda: len(worker._waiting) == 2)
        patience.give_up(ClientGoneError("gone"))
        with pytest.raises(ClientGoneError):
            gone.result()
        recorder.go_on.set()
        assert (first.result(), shared.result()) == ([2], [4])
    assert worker.run("double", [3]) == [6]
    worker.close()
    assert recorder.batches == [[1], [2], [3]]


def test_a_call_of_which_nothing_is_wanted_any_more_does_not_end_the_thread() -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double}, batch_size=16)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(worker.run, "double", [1])
        assert recorder.started.wait(30)
        with limited_by(Patience(0)), pytest.raises(DeadlineError):
            worker.run("double", [2])
        recorder.go_on.set()
        assert first.result() == [2]
    assert worker.run("double", [3]) == [6]
    worker.close()


def test_a_batch_that_nobody_waits_for_any_more_is_broken_off() -> None:
    begun, go_on = Event(), Event()

    def slow(items: Sequence[int]) -> list[int]:
        begun.set()
        assert go_on.wait(30)
        worker.continue_batch()
        return list(items)

    worker = Worker({"slow": slow}, batch_size=4)
    with ThreadPoolExecutor(1) as pool:
        patience = Patience(60)

        def impatient() -> None:
            with limited_by(patience):
                worker.run("slow", [1, 2])

        asked = pool.submit(impatient)
        assert begun.wait(30)
        patience.give_up(ClientGoneError("gone"))
        with pytest.raises(ClientGoneError):
            asked.result()
        go_on.set()
    assert worker.run("slow", [1]) == [1]
    worker.close()


@pytest.mark.parametrize("failure", [MemoryError(), SystemExit(1), BaseException("panic")])
def test_no_failure_ends_the_thread(failure: BaseException) -> None:
    failures = [failure]

    def fail_once(items: Sequence[int]) -> list[int]:
        if failures:
            raise failures.pop()
        return list(items)

    worker = Worker({"task": fail_once}, batch_size=1)
    with pytest.raises(EngineError, match=type(failure).__name__):
        worker.run("task", [1])
    assert worker.run("task", [1]) == [1]
    worker.close()


def test_results_that_do_not_match_the_items_are_a_failure_and_not_the_end() -> None:
    worker = Worker({"task": lambda items: items[1:]}, batch_size=2)
    for _ in range(2):
        with pytest.raises(EngineError, match="ValueError"):
            worker.run("task", [1, 2])
    worker.close()


def test_closing_finishes_the_running_batch_and_refuses_the_rest() -> None:
    recorder = Recorder()
    worker = Worker({"double": recorder.double}, batch_size=1)
    with ThreadPoolExecutor(3) as pool:
        running = pool.submit(worker.run, "double", [1])
        assert recorder.started.wait(30)
        waiting = pool.submit(worker.run, "double", [2])
        wait_until(lambda: len(worker._waiting) == 1)
        closing = pool.submit(worker.close)
        with pytest.raises(EngineError, match="closed"):
            waiting.result()
        recorder.go_on.set()
        assert running.result() == [2]
        closing.result()
    with pytest.raises(EngineError, match="closed"):
        worker.run("double", [3])
    worker.close()
