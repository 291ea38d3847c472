from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from service.judgement import Judgement
from service.recent import RecentJudgements
from tests.service.exam_world import judgements

KEPT = judgements()[1]
TEXT = "what was judged"


def of_prompt(prompt: str) -> Judgement:
    return replace(KEPT, judgement_id=f"judgement of {prompt}", prompt=prompt)


def found(recent: RecentJudgements, prompt: str) -> Judgement | None:
    return recent.find(KEPT.model_fingerprint, KEPT.decoding, prompt, TEXT)


@pytest.mark.parametrize("change", ["model_fingerprint", "decoding", "prompt", "text"])
def test_whatever_decides_a_result_is_needed_to_find_it(change: str) -> None:
    recent = RecentJudgements()
    recent.keep(KEPT, TEXT)
    assert found(recent, KEPT.prompt) is KEPT
    key = {name: getattr(KEPT, name) for name in ("model_fingerprint", "decoding", "prompt")}
    assert recent.find(**{**key, "text": TEXT, change: "other"}) is None


def test_the_first_of_equal_results_stays() -> None:
    recent = RecentJudgements()
    recent.keep(KEPT, TEXT)
    recent.keep(replace(KEPT, judgement_id="later"), TEXT)
    assert found(recent, KEPT.prompt) is KEPT


def test_what_was_not_needed_for_longest_goes_first() -> None:
    recent = RecentJudgements(2)
    recent.keep(of_prompt("one"), TEXT)
    recent.keep(of_prompt("two"), TEXT)
    assert found(recent, "one")
    recent.keep(of_prompt("three"), TEXT)
    assert found(recent, "two") is None
    assert found(recent, "one") == of_prompt("one")
    assert found(recent, "three") == of_prompt("three")


def test_many_threads_share_it() -> None:
    recent = RecentJudgements(8)

    def use(number: int) -> bool:
        recent.keep(of_prompt(str(number % 32)), TEXT)
        other = found(recent, str((number * 7) % 32))
        return other is None or other == of_prompt(str((number * 7) % 32))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(4000)))
    assert sum(found(recent, str(number)) is not None for number in range(32)) == 8
