"""A training run: data, model and trainer put together in a folder that says what it rests on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from filter_training.examples import Example, split_groups
from filter_training.filter_data import filter_examples
from filter_training.grader_data import grader_examples
from filter_training.recipe import Recipe
from filter_training.trainer import AdapterTrainer, Progress, load_base
from service.engine.base import Role
from service.errors import InputError, SettingsError
from service.exam import ExamItem
from service.model_store import locate_base
from service.profile import load_profile
from service.settings import Settings

_LIBRARIES = ("torch", "transformers", "peft")


def train(
    recipe: Recipe,
    items: Sequence[ExamItem],
    run_dir: Path,
    settings: Settings,
    *,
    report: Callable[[Progress], None],
) -> float:
    """Train the recipe's adapter on `items` and write it to `run_dir/adapter`.

    Returns:
        The lowest validation loss, in nats per target token.

    Raises:
        InputError: there is nothing to train on.
        SettingsError: `run_dir` holds a run of another recipe or other data.
        MissingWeightsError: the base model is not there.
    """
    profile = load_profile(recipe.profile, settings)
    base_dir = locate_base(profile, settings).path
    examples = _examples(recipe, items, justify=profile.justification == "prose")
    training, validation = split_groups(
        examples, validation_share=recipe.validation_share, seed=recipe.seed
    )
    if not training or not validation:
        raise InputError(f"{len(examples)} examples are too few to train and validate on")
    _describe(recipe, examples, run_dir)
    base, encoder = load_base(base_dir, profile)
    return AdapterTrainer(base, encoder, recipe, run_dir, report=report).train(training, validation)


def _examples(recipe: Recipe, items: Sequence[ExamItem], *, justify: bool) -> list[Example]:
    if recipe.role is Role.FILTER:
        return filter_examples(items, groups=recipe.groups, seed=recipe.seed)
    return grader_examples(items, per_question=recipe.groups, seed=recipe.seed, justify=justify)


def _describe(recipe: Recipe, examples: Sequence[Example], run_dir: Path) -> None:
    """Write the data in the paper's format, and recipe, data hash and library versions."""
    lines = "".join(
        json.dumps(
            {
                "group_id": example.group_id,
                "attack_type": example.attack_type,
                "input": example.prompt.text,
                "output": example.target,
            },
            ensure_ascii=False,
        )
        + "\n"
        for example in examples
    )
    description = {
        "recipe": asdict(recipe) | {"target_modules": list(recipe.target_modules)},
        "data_sha256": hashlib.sha256(lines.encode()).hexdigest(),
        "examples": len(examples),
        "versions": {library: version(library) for library in _LIBRARIES},
    }
    path = run_dir / "run.json"
    if path.exists() and json.loads(path.read_text(encoding="utf-8")) != description:
        raise SettingsError(f"{run_dir} holds a run of another recipe or data; give a new folder")
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / "dataset.jsonl").write_text(lines, encoding="utf-8")
    path.write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
