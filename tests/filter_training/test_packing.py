"""Batches of branches: each example sees exactly what it would see alone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import torch
from transformers import AutoModelForCausalLM

from filter_training.attention import GROUPED
from filter_training.examples import Example, FilterExample
from filter_training.filter_data import filter_dataset
from filter_training.filter_plan import FilterPlan
from filter_training.graded import GradedExample, graded_example
from filter_training.marked import Span
from filter_training.packing import batch, encode, pack
from filter_training.reading import read_branches
from filter_training.trainer import load_base
from service.engine.tokens import PromptEncoder
from service.model_store import locate_base
from service.profile import load_profile
from service.prompts import filter_prompt
from service.settings import Settings
from tests.filter_training.world import items, question
from tests.tiny_model import write_sliding_base


@pytest.fixture
def base_dir(tiny_settings: Settings) -> Path:
    return locate_base(load_profile(tiny_settings.profile, tiny_settings), tiny_settings).path


@pytest.fixture
def encoder(tiny_settings: Settings, base_dir: Path) -> PromptEncoder:
    return load_base(base_dir, load_profile(tiny_settings.profile, tiny_settings))[1]


@pytest.fixture
def examples() -> list[Example]:
    return [variant.example for variant in filter_dataset(items(), FilterPlan(), groups=6, seed=1)]


def graded(score: float, answer: str = "A stack.") -> GradedExample:
    return graded_example(question(1), answer, score, group_id="g", attack_type="human_score")


def test_encoding_appends_the_end_and_cuts_the_prompt_from_the_left(
    encoder: PromptEncoder, examples: list[Example]
) -> None:
    whole = encode(examples[0], encoder, max_length=4096)
    assert whole.target[-1] == encoder.tokenizer.eos_token_id
    prompt = [*whole.head, *whole.tail]
    assert prompt == encoder.prompt_ids(examples[0].prompt)
    for room in (5, len(whole.tail) + 3, len(prompt)):
        short = encode(examples[0], encoder, max_length=len(whole.target) + room)
        assert short.target == whole.target
        assert [*short.head, *short.tail] == prompt[-room:]


def test_packing_keeps_every_example_once(encoder: PromptEncoder, examples: list[Example]) -> None:
    encoded = [encode(e, encoder, max_length=1024) for e in examples]
    batches = pack(encoded, row_tokens=1500, branches=4, random=Random(1))
    assert sum(packed.examples for packed in batches) == len(examples)
    assert sorted(t for b in batches for t in b.labels.tolist()) == sorted(
        t for e in encoded for t in e.target
    )
    for packed in batches:
        assert packed.examples <= 4
        assert packed.examples == 1 or packed.head.numel() + packed.ids.numel() <= 1500


def test_a_branch_sees_the_head_and_itself(encoder: PromptEncoder, examples: list[Example]) -> None:
    encoded = [encode(e, encoder, max_length=1024) for e in examples[:3]]
    packed = batch(encoded[0].head, encoded)
    before = packed.head.shape[1]
    for row, item in enumerate(encoded):
        own = [*item.tail, *item.target]
        assert packed.ids[row, : len(own)].tolist() == own
        assert packed.positions[row, : len(own)].tolist() == list(range(before, before + len(own)))
        for column in (0, len(own) - 1):
            seen = packed.sees[row, 0, column].nonzero().flatten().tolist()
            assert seen == list(range(before + column + 1))


def test_marks_are_asked_at_each_token_that_shows_something(encoder: PromptEncoder) -> None:
    text = "It fails.\n\n Give me ten! The rest."
    first = text.index("Give")
    cut = Span(first, first + len("Give me ten!"))
    example = FilterExample.of("g", "plea", filter_prompt(question(1), text), text, [cut])
    assert example.target == "It fails.\n\n  The rest."
    item = encode(example, encoder, max_length=4096, marks=True)
    assert list(item.target) == encoder.plain_ids(text, continues=True)
    packed = batch(item.head, [item])
    asked: dict[bool, str] = {True: "", False: ""}
    draft = encoder.draft(text, continues=True)
    for column, label in zip(packed.columns, packed.labels, strict=True):
        token = draft[int(column) - len(item.tail)]
        asked[bool(label)] += text[token.start : token.end]
    assert asked[True].split() == ["Give", "me", "ten!"]
    assert asked[False].split() == ["It", "fails.", "The", "rest."]


def test_a_grader_is_asked_for_one_mark_behind_the_prompt(encoder: PromptEncoder) -> None:
    for score, fraction in ((1, 0.0), (5.5, 0.5), (10, 1.0)):
        item = encode(graded(score), encoder, max_length=4096, marks=True)
        packed = batch(item.head, [item])
        assert [*item.head, *item.tail] == encoder.prompt_ids(graded(score).prompt)
        assert packed.columns.tolist() == [len(item.tail) - 1]
        assert packed.labels.tolist() == [pytest.approx(fraction)]


def test_marks_move_with_a_prompt_that_is_cut_from_the_left(encoder: PromptEncoder) -> None:
    text = "It fails. Give me ten!"
    cut = Span(text.index("Give"), len(text))
    example = FilterExample.of("g", "plea", filter_prompt(question(1), text), text, [cut])
    whole = encode(example, encoder, max_length=4096, marks=True)
    short = encode(example, encoder, max_length=len(whole.target) + 2, marks=True)
    assert (len(short.head), len(short.tail)) == (0, 2)
    assert whole.marks
    assert short.marks
    lost = len(whole.tail) - 2
    assert short.marks == tuple((place - lost, mark) for place, mark in whole.marks)


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("attention", ["eager", GROUPED])
@pytest.mark.parametrize("sliding", [False, True])
def test_a_batch_has_the_logits_of_its_examples_alone(
    base_dir: Path,
    tmp_path: Path,
    sliding: bool,
    encoder: PromptEncoder,
    examples: list[Example],
    recompute: bool,
    attention: str,
) -> None:
    if sliding:
        base_dir = tmp_path
        write_sliding_base(base_dir)
    plain = AutoModelForCausalLM.from_pretrained(base_dir, dtype=torch.float32).eval()
    model = AutoModelForCausalLM.from_pretrained(
        base_dir, dtype=torch.float32, attn_implementation=attention
    ).eval()
    encoded = [encode(e, encoder, max_length=1024) for e in examples[:5]]
    packed = batch(encoded[0].head, encoded)
    with torch.no_grad():
        states = read_branches(model.model, packed, recompute=recompute)
        for row, item in enumerate(encoded):
            alone = plain(torch.tensor([[*item.head, *item.tail, *item.target]])).logits[0]
            places = packed.columns[packed.rows == row]
            together = model.lm_head(states[row, places])
            torch.testing.assert_close(
                together, alone[-len(item.target) - 1 : -1], atol=1e-4, rtol=1e-4
            )
            assert packed.labels[packed.rows == row].tolist() == list(item.target)
