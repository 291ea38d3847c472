"""Training recipes: all that decides an adapter beside base and data, in one TOML file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from filter_training.filter_plan import FilterPlan
from service.engine.base import Role
from service.errors import SettingsError

RECIPES = Path(__file__).parent / "recipes"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Recipe:
    """How an adapter is trained.

    Attributes:
        profile: model profile whose base is trained.
        role: `filter` or `grade`.
        groups: filter: answer families; grade: examples per question.
        validation_share: share of the groups that is held out, 0 to 1.
        seed: seed of data, order and weights.
        epochs: passes over the training examples.
        batch_examples: examples per optimizer step, about.
        branches: most examples of a question in one forward pass.
        row_tokens: most tokens in one forward pass (one longer example goes alone).
        max_length: most tokens of one example; longer prompts lose tokens on the left.
        learning_rate: peak of a schedule that warms up, then falls linearly to 0.
        warmup_ratio: share of the steps that warm up.
        weight_decay: of AdamW.
        max_grad_norm: gradients are clipped to this norm.
        rank: LoRA rank.
        alpha: LoRA scaling factor.
        dropout: LoRA dropout.
        target_modules: projections that get an adapter.
        gradient_checkpointing: trade time for memory.
        four_bit: keep the frozen base in 4 bits; needs an NVIDIA GPU and bitsandbytes.
        frozen_layers: so many of the lowest layers get no adapter, which saves their backward pass.
        checkpoint_steps: optimizer steps between two checkpoints.
        own_groups: grade: examples for each question of our own.
        attacked_share: grade: how many of the examples have a twin with an attack in it.
        rank_weight: grade: weight of the order of the answers beside their scores.
        plan: filter: what the data is made of; the paper's dataset where it is not given.
    """

    profile: str
    role: Role
    groups: int
    validation_share: float
    seed: int
    epochs: int
    batch_examples: int
    branches: int
    row_tokens: int
    max_length: int
    learning_rate: float
    warmup_ratio: float
    weight_decay: float
    max_grad_norm: float
    rank: int
    alpha: int
    dropout: float
    target_modules: tuple[str, ...]
    gradient_checkpointing: bool
    checkpoint_steps: int
    four_bit: bool = False
    frozen_layers: int = 0
    own_groups: int = 0
    attacked_share: float = 0.0
    rank_weight: float = 0.0
    plan: FilterPlan = field(default_factory=FilterPlan)


def load_recipe(name_or_path: str) -> Recipe:
    """A shipped recipe by name (`smollm2-135m-filter`) or any recipe file by path.

    Raises:
        SettingsError: there is no such recipe, or a value in it is missing or wrong.
    """
    shipped = RECIPES / f"{name_or_path}.toml"
    path = shipped if shipped.exists() else Path(name_or_path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        return TypeAdapter(Recipe).validate_python(values)
    except OSError as error:
        names = ", ".join(sorted(recipe.stem for recipe in RECIPES.glob("*.toml")))
        raise SettingsError(f"no recipe {name_or_path}: give a file or one of {names}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise SettingsError(f"recipe {path}: {error}") from error
