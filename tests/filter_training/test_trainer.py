"""The trainer on a tiny random Mistral: the product's architecture and the paper's recipe."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from filter_training.examples import Example, split_groups
from filter_training.filter_data import filter_dataset
from filter_training.filter_plan import FilterPlan
from filter_training.recipe import RECIPES, Recipe, load_recipe
from filter_training.run import TrainingData, train
from filter_training.trainer import AdapterTrainer, Progress, load_base, mark_loss
from service.engine.base import Role
from service.engine.tokens import PromptEncoder
from service.errors import SettingsError
from service.model_store import locate_base
from service.profile import load_profile
from service.settings import Settings
from tests.filter_training.world import items
from tests.tiny_model import sha256


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
    variants = filter_dataset(items(), FilterPlan(), groups=6, seed=1)
    return [variant.example for variant in variants]


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
    data = TrainingData.of_exams(recipe, items(), tiny_settings)
    best = train(recipe, data, tmp_path, tiny_settings, report=report)
    assert best == min(losses) < losses[0]
    weights = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.bfloat16}
    base = AutoModelForCausalLM.from_pretrained(base_dir)
    adapter = PeftModel.from_pretrained(base, tmp_path / "adapter").peft_config["default"]
    assert adapter.base_model_name_or_path == recipe.profile


def test_a_run_goes_on_from_an_adapter_of_its_shape(
    tiny_settings: Settings, recipe: Recipe, tmp_path: Path
) -> None:
    data = TrainingData.of_exams(recipe, items(), tiny_settings)
    first = train(recipe, data, tmp_path / "first", tiny_settings, report=lambda _: None)
    start = tmp_path / "first" / "adapter"
    # Steps of no size: what comes out is what went in.
    still = replace(recipe, epochs=1, learning_rate=0.0)
    second = train(still, data, tmp_path / "second", tiny_settings, start=start, report=print)
    assert second == pytest.approx(first, rel=1e-3)
    weights = "adapter_model.safetensors"
    before, after = load_file(start / weights), load_file(tmp_path / "second/adapter" / weights)
    assert all(torch.equal(before[name], after[name]) for name in before)
    described = json.loads((tmp_path / "second" / "run.json").read_text())
    assert described["start_sha256"] == sha256(start / weights)
    for fault, folder in ((replace(recipe, rank=4), start), (recipe, tmp_path)):
        with pytest.raises(SettingsError, match="cannot go on from the adapter"):
            train(fault, data, tmp_path / "x", tiny_settings, start=folder, report=print)


@pytest.mark.parametrize("frozen", [0, 1])
def test_a_filter_learns_to_mark(
    base_dir: Path,
    tiny_settings: Settings,
    recipe: Recipe,
    examples: list[Example],
    tmp_path: Path,
    frozen: int,
) -> None:
    losses: list[float] = []

    def report(progress: Progress) -> None:
        if progress.validation_loss is not None:
            losses.append(progress.validation_loss)

    training, validation = split_groups(examples, validation_share=0.34, seed=1)
    chosen = replace(recipe, epochs=4, frozen_layers=frozen)
    base, encoder = load(base_dir, tiny_settings)
    trainer = AdapterTrainer(base, encoder, chosen, tmp_path, marks=True, report=report)
    trainer.train(training, validation)
    assert losses[-1] < losses[0]
    layers = {name.split(".layers.")[1][0] for name in load_file(tmp_path / "best.safetensors")}
    assert layers == {str(layer) for layer in range(frozen, 2)}


def test_a_run_folder_of_another_recipe_is_refused(
    tiny_settings: Settings, recipe: Recipe, tmp_path: Path
) -> None:
    recipe = replace(recipe, epochs=1)
    data = TrainingData.of_exams(recipe, items(), tiny_settings)
    train(recipe, data, tmp_path, tiny_settings, report=lambda _: None)
    with pytest.raises(SettingsError, match="another recipe"):
        train(replace(recipe, seed=9), data, tmp_path, tiny_settings, report=lambda _: None)


def test_recomputed_layers_train_the_same_adapter(
    base_dir: Path, tiny_settings: Settings, recipe: Recipe, examples: list[Example], tmp_path: Path
) -> None:
    training, validation = split_groups(examples, validation_share=0.34, seed=1)
    losses: dict[bool, list[float]] = {True: [], False: []}
    for recompute in losses:
        base, encoder = load(base_dir, tiny_settings)
        chosen = replace(recipe, gradient_checkpointing=recompute, dropout=0.0)

        def report(progress: Progress, recompute: bool = recompute) -> None:
            loss = progress.training_loss or progress.validation_loss
            losses[recompute].append(loss or 0.0)

        folder = tmp_path / str(recompute)
        AdapterTrainer(base, encoder, chosen, folder, report=report).train(training, validation)
    assert losses[True] == pytest.approx(losses[False], rel=0.02)


def test_a_run_leaves_curves_and_what_it_rests_on(
    tiny_settings: Settings, recipe: Recipe, tmp_path: Path
) -> None:
    data = TrainingData.of_exams(recipe, items(), tiny_settings)
    train(replace(recipe, epochs=1), data, tmp_path, tiny_settings, report=lambda _: None)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    described = json.loads((tmp_path / "run.json").read_text())
    assert described["recipe"]["seed"] == recipe.seed
    assert len(described["data_sha256"]) == 64
    assert described["versions"]["torch"] == torch.__version__


def test_a_grader_learns_to_prefer_the_scores_it_is_shown(
    tiny_settings: Settings, recipe: Recipe, tmp_path: Path
) -> None:
    losses: list[float] = []

    def report(progress: Progress) -> None:
        if progress.training_loss is not None:
            losses.append(progress.training_loss)

    profile = tmp_path / "marking"
    copytree(tiny_settings.profile, profile)
    written = (profile / "profile.toml").read_text()
    marks = 'justification = "none"\ngrade_decoding = "mark"'
    (profile / "profile.toml").write_text(written.replace('justification = "prose"', marks))
    grader = replace(recipe, role=Role.GRADE, groups=12, epochs=4, rank_weight=0.5)
    with pytest.raises(SettingsError, match="grade_decoding"):
        TrainingData.of_exams(grader, items(), tiny_settings)
    grader = replace(grader, profile=str(profile))
    data = TrainingData.of_exams(grader, items(), tiny_settings)
    train(grader, data, tmp_path / "run", tiny_settings, report=report)
    assert losses[-1] < losses[0]


def test_the_loss_of_a_mark_is_its_cross_entropy() -> None:
    odds, wanted = torch.tensor([0.0, math.log(4)]), torch.tensor([0.5, 1.0])
    by_hand = math.log(2) - math.log(0.8)
    assert mark_loss(odds, wanted, rank_weight=0).item() == pytest.approx(by_hand)


def test_answers_in_the_wrong_order_cost_more_than_in_the_right_one() -> None:
    wanted = torch.tensor([0.0, 1.0])

    def order(*odds: float) -> float:
        marks = torch.tensor(odds)
        both = mark_loss(marks, wanted, rank_weight=1.0)
        return float(both - mark_loss(marks, wanted, rank_weight=0.0))

    # Marks of 2 and 8 tenths; two answers, one pair: 2 * log(1 + exp(-difference)).
    low, high = -math.log(4), math.log(4)
    assert order(low, high) == pytest.approx(2 * math.log(1 + math.exp(-6)), rel=1e-4)
    assert order(high, low) == pytest.approx(2 * math.log(1 + math.exp(6)), rel=1e-4)


def test_equal_scores_have_no_order() -> None:
    odds, wanted = torch.tensor([0.3, -0.7]), torch.tensor([0.4, 0.4])
    assert mark_loss(odds, wanted, rank_weight=5) == mark_loss(odds, wanted, rank_weight=0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_four_bits_without_a_gpu_are_refused(
    tiny_settings: Settings, recipe: Recipe, tmp_path: Path
) -> None:
    recipe = replace(recipe, four_bit=True)
    data = TrainingData.of_exams(recipe, items(), tiny_settings)
    with pytest.raises(SettingsError, match="four_bit = false"):
        train(recipe, data, tmp_path, tiny_settings, report=lambda _: None)
