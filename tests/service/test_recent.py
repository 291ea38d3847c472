from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from service.judgement import Judgement
from service.recent import RecentJudgements
from tests.service.exam_world import QUESTION, answer, judgements, run, submission

SUBMISSION = submission()


def of_prompt(prompt: str, judgement_id: str = "first") -> Judgement:
    return replace(judgements()[1], judgement_id=judgement_id, prompt=prompt)


def keep(recent: RecentJudgements, *kept: Judgement) -> None:
    recent.record(run(), [QUESTION], [SUBMISSION], kept, {})


def found(recent: RecentJudgements, prompt: str) -> Judgement | None:
    return recent.find_result(of_prompt(prompt).result_key(SUBMISSION.text))


def test_the_first_of_equal_results_stays() -> None:
    recent = RecentJudgements()
    keep(recent, of_prompt("one"))
    keep(recent, of_prompt("one", "later"))
    assert found(recent, "one") == of_prompt("one")
    assert found(recent, "two") is None


def test_filtering_and_grading_are_kept_apart() -> None:
    recent = RecentJudgements()
    filtering, baseline, filtered = judgements()
    keep(recent, filtering, baseline, filtered)
    assert recent.find_result(filtering.result_key(SUBMISSION.text)) == filtering
    assert recent.find_result(filtering.result_key("another text")) is None
    assert recent.find_result(filtered.result_key("")) == baseline


def test_what_was_not_needed_for_longest_goes_first() -> None:
    recent = RecentJudgements(2)
    keep(recent, of_prompt("one"))
    keep(recent, of_prompt("two"))
    assert found(recent, "one")
    keep(recent, of_prompt("three"))
    assert found(recent, "two") is None
    assert found(recent, "one") == of_prompt("one")
    keep(recent, *map(of_prompt, "abcd"))
    assert [prompt for prompt in ("one", "three", *"abcd") if found(recent, prompt)] == ["c", "d"]


def test_many_threads_share_it() -> None:
    recent = RecentJudgements(8)

    def use(number: int) -> bool:
        keep(recent, of_prompt(str(number % 32)))
        other = found(recent, str((number * 7) % 32))
        return other is None or other == of_prompt(str((number * 7) % 32))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(4000)))
    assert sum(found(recent, str(number)) is not None for number in range(32)) == 8


def test_nothing_is_salted() -> None:
    items = [(QUESTION, answer()), (QUESTION, answer("another"))]
    assert RecentJudgements().admit(items) == [b"", b""]
