from __future__ import annotations

from typing import Any

import pytest

from benchmarks.peer import PaperPipeline
from benchmarks.subject import Subject
from benchmarks.texts import Text, draw, never, one_in_five
from service.engine.base import REWRITE_TOKENS
from service.engine.language_model import LanguageModel
from tests.benchmarks.made_up import items, variant

Written = list[tuple[int, int]]
"""Rows and new tokens of every call of `generate`."""


@pytest.fixture(scope="module")
def model(subject: Subject) -> LanguageModel:
    return subject.language_model()


@pytest.fixture
def written(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> Written:
    calls: Written = []
    generate = model.model.generate

    def counted(**arguments: Any) -> Any:
        output = generate(**arguments)
        rows, width = output.shape
        calls.append((rows, width - arguments["input_ids"].shape[1]))
        return output

    monkeypatch.setattr(model.model, "generate", counted)
    return calls


def tokens(model: LanguageModel, text: str) -> int:
    """Those of a text and of the end of the turn."""
    return len(model.encoder.plain_ids(text)) + 1


def texts(count: int) -> tuple[Text, ...]:
    return draw(items(questions=1, answers=count), one_in_five, sample=0, whole=count).whole


def test_one_by_one_writes_what_a_right_filter_writes(
    model: LanguageModel, written: Written
) -> None:
    [attacked, clean] = texts(2)
    assert attacked.answer.text != attacked.clean
    PaperPipeline(model).filter([attacked, clean], 1)
    assert sorted(written) == sorted([(1, tokens(model, each.clean)) for each in (attacked, clean)])


def test_batches_hold_what_they_may(model: LanguageModel, written: Written) -> None:
    PaperPipeline(model).filter(texts(5), 2)
    assert [rows for rows, _ in written] == [2, 2, 1]


def test_a_rewrite_has_a_limit(model: LanguageModel, written: Written) -> None:
    [item] = items(questions=1, answers=1)
    long = variant(item, text="word " * 2 * REWRITE_TOKENS)
    PaperPipeline(model).filter(draw([long], never, sample=0, whole=1).whole, 1)
    assert written == [(1, REWRITE_TOKENS)]


def test_an_answer_takes_three_calls(model: LanguageModel, written: Written) -> None:
    [text] = texts(1)
    score, cleaned = tokens(model, "Answer: 10"), tokens(model, text.clean)
    PaperPipeline(model).grade([text])
    assert written == [(1, score), (1, score), (1, cleaned)]
    written.clear()
    PaperPipeline(model).justify([text], 7)
    assert len(written) == 3
    assert all(length <= 7 for _, length in written[:2])
