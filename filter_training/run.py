"""A training run: data, model and trainer put together in a folder that says what it rests on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from filter_training.dataset import Dataset
from filter_training.dataset_file import read_dataset, to_json_lines
from filter_training.examples import Example, split_groups
from filter_training.filter_data import filter_dataset
from filter_training.grader_data import grader_examples
from filter_training.recipe import Recipe
from filter_training.trainer import AdapterTrainer, Progress, load_base
from service.engine.base import Role
from service.errors import InputError, SettingsError
from service.exam import ExamItem
from service.manifest import hash_file
from service.model_store import ADAPTER_WEIGHTS, locate_base
from service.profile import load_profile
from service.settings import Settings

_LIBRARIES = ("torch", "transformers", "peft")


@dataclass(frozen=True)
class TrainingData:
    """What a run trains and validates on, and the file that says so."""

    training: Sequence[Example]
    validation: Sequence[Example]
    json_lines: str

    @classmethod
    def of_file(cls, recipe: Recipe, path: Path) -> TrainingData:
        """A dataset file, which has its own split.

        Raises:
            SettingsError: the recipe trains no filter.
            InputError: the file cannot be used.
        """
        if recipe.role is not Role.FILTER:
            raise SettingsError("a dataset file trains a filter, and the recipe trains a grader")
        return cls._of(read_dataset(path))

    @classmethod
    def of_exams(
        cls, recipe: Recipe, items: Sequence[ExamItem], settings: Settings
    ) -> TrainingData:
        """What the recipe makes of exams.

        Raises:
            SettingsError: the recipe trains a grader, and the profile's grader does not mark.
        """
        if recipe.role is Role.FILTER:
            variants = filter_dataset(items, recipe.plan, groups=recipe.groups, seed=recipe.seed)
            share = recipe.validation_share
            return cls._of(Dataset.split(variants, validation_share=share, seed=recipe.seed))
        if not load_profile(recipe.profile, settings).marks(Role.GRADE):
            raise SettingsError(
                f"a grader is taught to mark, and the one of profile {recipe.profile} writes; "
                'say grade_decoding = "mark" in its profile.toml'
            )
        examples = grader_examples(
            items,
            per_question=recipe.groups,
            per_own_question=recipe.own_groups,
            attacked_share=recipe.attacked_share,
            seed=recipe.seed,
        )
        training, validation = split_groups(
            examples, validation_share=recipe.validation_share, seed=recipe.seed
        )
        return cls(training, validation, "".join(map(_json_line, examples)))

    @classmethod
    def _of(cls, dataset: Dataset) -> TrainingData:
        return cls(dataset.training, dataset.validation, to_json_lines(dataset))


def train(
    recipe: Recipe,
    data: TrainingData,
    run_dir: Path,
    settings: Settings,
    *,
    start: Path | None = None,
    report: Callable[[Progress], None],
) -> float:
    """Train the recipe's adapter on `data` and write it to `run_dir/adapter`.

    Args:
        recipe: how to train.
        data: what to train on.
        run_dir: the folder of the run.
        settings: where the base model lies.
        start: folder of an adapter to go on from; None for a new one.
        report: is told of each step and evaluation.

    Returns:
        The lowest validation loss, per target token or mark.

    Raises:
        InputError: there is nothing to train on.
        SettingsError: `run_dir` holds a run of another recipe or other data, or `start` holds no
            adapter of the recipe's shape.
        MissingWeightsError: the base model is not there.
    """
    profile = load_profile(recipe.profile, settings)
    base_dir = locate_base(profile, settings).path
    if not data.training or not data.validation:
        count = len(data.training) + len(data.validation)
        raise InputError(f"{count} examples are too few to train and validate on")
    _describe(recipe, data, start, run_dir)
    base, encoder = load_base(base_dir, profile, four_bit=recipe.four_bit)
    marks = profile.marks(recipe.role)
    trainer = AdapterTrainer(
        base, encoder, recipe, run_dir, marks=marks, start=start, report=report
    )
    return trainer.train(data.training, data.validation)


def _adapter_hash(folder: Path) -> str:
    path = folder / ADAPTER_WEIGHTS
    try:
        return hash_file(path)
    except OSError as error:
        raise SettingsError(f"cannot go on from the adapter in {folder}: {error}") from error


def _json_line(example: Example) -> str:
    fields = {
        "group_id": example.group_id,
        "attack_type": example.attack_type,
        "input": example.prompt.text,
        "output": example.target,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _describe(recipe: Recipe, data: TrainingData, start: Path | None, run_dir: Path) -> None:
    """Write the data, and recipe, data hash, first adapter and library versions."""
    description = {
        "recipe": asdict(recipe),
        "data_sha256": hashlib.sha256(data.json_lines.encode()).hexdigest(),
        "start_sha256": start and _adapter_hash(start),
        "examples": len(data.training) + len(data.validation),
        "versions": {library: version(library) for library in _LIBRARIES},
    }
    text = json.dumps(description, indent=2) + "\n"
    path = run_dir / "run.json"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise SettingsError(f"{run_dir} holds a run of another recipe or data; give a new folder")
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / "dataset.jsonl").write_text(data.json_lines, encoding="utf-8")
    path.write_text(text, encoding="utf-8")
