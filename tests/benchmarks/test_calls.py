from __future__ import annotations

import pytest

from benchmarks.calls import PaperCalls
from benchmarks.subject import Subject
from benchmarks.texts import draw, never, one_in_five
from service.engine.base import REWRITE_TOKENS, Role
from service.engine.tokens import PromptEncoder
from service.prompts import filter_prompt, grading_prompt
from tests.benchmarks.made_up import items, variant


@pytest.fixture(scope="module")
def encoder(subject: Subject) -> PromptEncoder:
    return subject.language_model().encoder


def test_an_attacked_answer_is_graded_raw_and_clean(encoder: PromptEncoder) -> None:
    [text] = draw(items(questions=1, answers=1), one_in_five, sample=0, whole=1).whole
    assert text.answer.text != text.clean
    calls = PaperCalls(encoder)
    for justify, (raw, left) in (
        (False, calls.scores(text)),
        (True, calls.justifications(text, 7)),
    ):
        for call, answer in ((raw, text.answer.text), (left, text.clean)):
            prompt = grading_prompt(text.question, answer, justify=justify)
            assert call.prompt == encoder.prompt_ids(prompt)
            assert call.role is Role.GRADE
            assert call.exactly is not justify
        assert raw.tokens == left.tokens
    assert raw.tokens == 7


def test_a_filter_reads_the_raw_answer_and_writes_the_clean_one(encoder: PromptEncoder) -> None:
    [text] = draw(items(questions=1, answers=1), one_in_five, sample=0, whole=1).whole
    call = PaperCalls(encoder).filter(text)
    assert (call.role, call.exactly) == (Role.FILTER, True)
    assert call.prompt == encoder.prompt_ids(filter_prompt(text.question, text.answer.text))
    assert call.tokens == len(encoder.plain_ids(text.clean)) + 1


def test_a_rewrite_has_a_limit(encoder: PromptEncoder) -> None:
    [item] = items(questions=1, answers=1)
    long = variant(item, text="word " * 2 * REWRITE_TOKENS)
    [text] = draw([long], never, sample=0, whole=1).whole
    assert PaperCalls(encoder).filter(text).tokens == REWRITE_TOKENS
