"""The trainer on a tiny random Mistral: the product's architecture and the paper's recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM

from filter_training.examples import Example, split_groups
from filter_training.filter_data import filter_examples
from filter_training.packing import encode, pack, row
from filter_training.recipe import RECIPES, Recipe, load_recipe
from filter_training.run import train
from filter_training.trainer import AdapterTrainer, Progress, load_base
from service.engine.tokens import PromptEncoder
from service.errors import SettingsError
from service.model_store import locate_base
from service.profile import load_profile
from service.settings import Settings
from tests.filter_training.world import items


@pytest.fixture
def base_dir(tiny_settings: Settings) -> Path:
    return locate_base(load_profile(tiny_settings.profile, tiny_settings), tiny_settings).path


@pytest.fixture
def recipe(tiny_settings: Settings) -> Recipe:
    return replace(
        load_recipe("mistral-7b-filter"),
        profile=tiny_settings.profile,
        groups=6,
        epochs=2,
        learning_rate=1e-2,
        validation_share=0.34,
        gradient_checkpointing=False,
        checkpoint_steps=1,
    )


@pytest.fixture
def examples() -> list[Example]:
    return filter_examples(items(), groups=6, seed=1)


def load(base_dir: Path, settings: Settings) -> tuple[Any, PromptEncoder]:
    return load_base(base_dir, load_profile(settings.profile, settings))


def test_the_recipe_of_the_paper() -> None:
    recipe = load_recipe("mistral-7b-filter")
    assert (recipe.rank, recipe.alpha, recipe.dropout) == (16, 32, 0.05)
    assert (recipe.max_length, recipe.batch_examples, recipe.epochs) == (1024, 16, 5)
    assert (recipe.learning_rate, recipe.warmup_ratio) == (3e-5, 0.03)
    assert (recipe.weight_decay, recipe.max_grad_norm) == (0.01, 1.0)
    assert len(recipe.target_modules) == 7


@pytest.mark.parametrize("name", sorted(path.stem for path in RECIPES.glob("*.toml")))
def test_shipped_recipes_are_valid(name: str) -> None:
    assert 0 < load_recipe(name).validation_share < 1


@pytest.mark.parametrize("fault", ["epochs = 'two'", "epoch = 2", "not toml"])
def test_a_wrong_recipe_names_its_fault(tmp_path: Path, fault: str) -> None:
    text = (RECIPES / "smollm2-135m-filter.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("epochs = 1", fault))
    with pytest.raises(SettingsError, match="mine"):
        load_recipe(str(path))
    with pytest.raises(SettingsError, match="smollm2-135m-filter"):
        load_recipe("no-such-recipe")


def test_encoding_appends_the_end_and_cuts_the_prompt_from_the_left(
    base_dir: Path, tiny_settings: Settings, examples: list[Example]
) -> None:
    _, encoder = load(base_dir, tiny_settings)
    whole = encode(examples[0], encoder, max_length=4096)
    assert whole.target[-1] == encoder.tokenizer.eos_token_id
    prompt = [*whole.head, *whole.tail]
    assert prompt == encoder.prompt_ids(examples[0].prompt)
    for room in (5, len(whole.tail) + 3, len(prompt)):
        short = encode(examples[0], encoder, max_length=len(whole.target) + room)
        assert short.target == whole.target
        assert [*short.head, *short.tail] == prompt[-room:]


def test_a_packed_row_has_the_loss_of_its_examples_alone(
    base_dir: Path, tiny_settings: Settings, examples: list[Example]
) -> None:
    _, encoder = load(base_dir, tiny_settings)
    model = AutoModelForCausalLM.from_pretrained(base_dir, dtype=torch.float32).eval()
    encoded = [encode(e, encoder, max_length=1024) for e in examples[:5]]
    packed = row(encoded[0].head, encoded)
    mask = torch.zeros(packed.mask.shape).masked_fill(~packed.mask, torch.finfo(torch.float32).min)
    with torch.no_grad():
        logits = model(
            packed.input_ids, attention_mask=mask, position_ids=packed.position_ids
        ).logits[0, packed.predict]
        alone = []
        for item in encoded:
            ids = [*item.head, *item.tail, *item.target]
            whole = model(torch.tensor([ids])).logits[0]
            alone.append(whole[-len(item.target) - 1 : -1])
            losses = cross_entropy(alone[-1], torch.tensor(item.target))
            assert torch.isfinite(losses)
    torch.testing.assert_close(logits, torch.cat(alone), atol=1e-4, rtol=1e-4)
    assert packed.labels.tolist() == [token for item in encoded for token in item.target]


def test_packing_keeps_every_example_once(
    base_dir: Path, tiny_settings: Settings, examples: list[Example]
) -> None:
    _, encoder = load(base_dir, tiny_settings)
    encoded = [encode(e, encoder, max_length=1024) for e in examples]
    rows = pack(encoded, row_tokens=700, random=Random(1))
    assert sum(packed.examples for packed in rows) == len(examples)
    assert sorted(t for r in rows for t in r.labels.tolist()) == sorted(
        t for e in encoded for t in e.target
    )
    assert all(r.input_ids.shape[1] <= 700 or r.examples == 1 for r in rows)


class _KilledError(Exception):
    pass


def test_a_killed_run_goes_on_to_the_same_adapter(
    base_dir: Path, tiny_settings: Settings, recipe: Recipe, examples: list[Example], tmp_path: Path
) -> None:
    training, validation = split_groups(examples, validation_share=0.34, seed=1)

    def run(folder: Path, kill_at: int | None = None) -> None:
        def report(progress: Progress) -> None:
            if progress.step == kill_at:
                raise _KilledError

        base, encoder = load(base_dir, tiny_settings)
        AdapterTrainer(base, encoder, recipe, folder, report=report).train(training, validation)

    run(tmp_path / "unbroken")
    for kill_at in (2, 3):
        with pytest.raises(_KilledError):
            run(tmp_path / "broken", kill_at)
    run(tmp_path / "broken")
    whole, resumed = (
        load_file(tmp_path / name / "adapter" / "adapter_model.safetensors")
        for name in ("unbroken", "broken")
    )
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_training_lowers_the_loss_and_writes_an_adapter_that_peft_loads(
    base_dir: Path, tiny_settings: Settings, recipe: Recipe, tmp_path: Path
) -> None:
    losses: list[float] = []

    def report(progress: Progress) -> None:
        if progress.validation_loss is not None:
            losses.append(progress.validation_loss)

    recipe = replace(recipe, epochs=4, gradient_checkpointing=True)
    best = train(recipe, items(), tmp_path, tiny_settings, report=report)
    assert best == min(losses) < losses[0]
    weights = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.bfloat16}
    base = AutoModelForCausalLM.from_pretrained(base_dir)
    adapter = PeftModel.from_pretrained(base, tmp_path / "adapter").peft_config["default"]
    assert adapter.base_model_name_or_path == recipe.profile


def test_a_run_folder_of_another_recipe_is_refused(
    tiny_settings: Settings, recipe: Recipe, tmp_path: Path
) -> None:
    recipe = replace(recipe, epochs=1)
    train(recipe, items(), tmp_path, tiny_settings, report=lambda _: None)
    with pytest.raises(SettingsError, match="another recipe"):
        train(replace(recipe, seed=9), items(), tmp_path, tiny_settings, report=lambda _: None)
