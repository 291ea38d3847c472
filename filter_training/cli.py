"""`steadyeval train`: make datasets and adapters from exam files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from filter_training.cli_evaluate import evaluate
from service.errors import InputError, SettingsError

if TYPE_CHECKING:
    from service.exam import ExamItem
    from service.settings import Settings

train_app = typer.Typer(help="Train the adapters of a model profile.", no_args_is_help=True)
train_app.command()(evaluate)

SplitOption = Annotated[str, typer.Option(help="Split to use of files that have one.")]


@train_app.command()
def average(
    adapters: Annotated[list[Path], typer.Argument(help="Folders of adapters of one shape.")],
    out: Annotated[Path, typer.Option(help="Folder for the mean.")],
) -> None:
    """Average adapters that were trained from the same start; often steadier than each of them."""
    from filter_training.average import average_adapters

    average_adapters(adapters, out)
    typer.echo(f"the mean of {len(adapters)} adapters is in {out}")


@train_app.command()
def dataset(
    exam: Annotated[list[Path], typer.Argument(help="Exam files.")],
    out: Annotated[Path, typer.Option(help="Folder for the dataset and its data card.")],
    recipe: Annotated[
        str, typer.Option(help="Recipe whose plan, groups and seed are used.")
    ] = "mistral-7b-filter",
    groups: Annotated[int | None, typer.Option(min=2, help="Honest texts.")] = None,
    variants: Annotated[int | None, typer.Option(min=2, help="Texts of a group.")] = None,
    families: Annotated[
        Literal["paper", "all"] | None, typer.Option(help="The paper's four attacks, or all.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all draws.")] = None,
    split: SplitOption = "train",
    family_fold: Annotated[
        int | None, typer.Option(help="Leave out the families of this fold, 0 to 3.")
    ] = None,
    question_fold: Annotated[
        int | None, typer.Option(help="Leave out the questions of this fold, from 0.")
    ] = None,
    question_folds: Annotated[int, typer.Option(help="How many folds of questions.")] = 5,
    red_team: Annotated[
        list[Path] | None, typer.Option(help="File of attacks with marked spans; may be repeated.")
    ] = None,
    from_graph: Annotated[
        bool, typer.Option("--from-graph", help="Add what a person confirmed in the graph.")
    ] = False,
) -> None:
    """Make a dataset for the filter in the paper's format, with a data card.

    A recipe decides what goes into it; the other options change that. The default recipe makes
    the paper's dataset.
    """
    from filter_training.data_card import Origin, write_dataset
    from filter_training.dataset import Dataset, Source
    from filter_training.filter_data import filter_dataset
    from filter_training.folds import family_fold as families_of
    from filter_training.folds import question_fold as without_fold
    from filter_training.folds import question_key
    from filter_training.recipe import load_recipe
    from filter_training.red_team import confirmed_findings, finding_variants, read_red_team
    from filter_training.sampling import unattacked
    from service.graph import open_graph
    from service.settings import load_settings

    settings = load_settings()
    chosen = load_recipe(recipe)
    seed = chosen.seed if seed is None else seed
    plan = chosen.plan
    if variants is not None or families is not None:
        plan = replace(plan, variants=variants or plan.variants, families=families or plan.families)
    if family_fold is not None:
        left_out_families = families_of(family_fold).union(plan.leave_out)
        plan = replace(plan, leave_out=tuple(sorted(left_out_families)))
    items = _read(exam, settings)
    used, left_out = unattacked(items, split), set[tuple[str, str]]()
    if question_fold is not None:
        used, left_out = without_fold(used, question_fold, folds=question_folds, seed=seed)
    made = filter_dataset(used, plan, groups=groups or chosen.groups, seed=seed)
    found = [(Source.RED_TEAM, read_red_team(path, items)) for path in red_team or ()]
    if from_graph:
        with open_graph(settings) as store:
            found.append((Source.GRAPH, confirmed_findings(store)))
    for source, findings in found:
        made += finding_variants(
            (each for each in findings if question_key(each.question) not in left_out), source
        )
    whole = Dataset.split(made, validation_share=chosen.validation_share, seed=seed)
    if not whole.training or not whole.validation:
        raise InputError(f"{len(made)} examples are too few for a dataset")
    origin = Origin(exam, red_team or (), from_graph, split, sorted(left_out), plan, seed)
    typer.echo(f"{len(made)} examples in {write_dataset(out, whole, origin)}")


@train_app.command()
def run(
    recipe: Annotated[str, typer.Argument(help="Name of a shipped recipe, or a recipe file.")],
    out: Annotated[Path, typer.Option(help="Run folder; a run that was killed goes on there.")],
    exam: Annotated[
        list[Path] | None, typer.Option(help="Exam file to train on; may be repeated.")
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option(help="Dataset of `train dataset` to train on instead.")
    ] = None,
    split: SplitOption = "train",
    start_from: Annotated[
        Path | None, typer.Option(help="Folder of an adapter to go on from, of the same shape.")
    ] = None,
) -> None:
    """Train an adapter; it is written to OUT/adapter.

    A run folder holds the data (`dataset.jsonl`), what the run rests on (`run.json`), its
    losses (`progress.jsonl`) and its last checkpoint.
    """
    if bool(exam) == bool(dataset):
        raise SettingsError("give either --exam or --dataset")
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from filter_training.recipe import load_recipe
    from filter_training.run import TrainingData, train
    from filter_training.sampling import unattacked
    from filter_training.trainer import Progress as TrainingProgress
    from service.settings import load_settings

    chosen = load_recipe(recipe)
    settings = load_settings(profile=chosen.profile)
    data = (
        TrainingData.of_file(chosen, dataset)
        if dataset
        else TrainingData.of_exams(chosen, unattacked(_read(exam or (), settings), split), settings)
    )
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} steps"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("training", total=None)

        def report(progress: TrainingProgress) -> None:
            loss = progress.training_loss
            text = f"loss {loss:.4f}" if loss is not None else "validating"
            bar.update(task, completed=progress.step, total=progress.steps, description=text)

        best = train(chosen, data, out, settings, start=start_from, report=report)
    console.print(f"adapter in {out / 'adapter'}, validation loss {best:.4f}")


def _read(exams: Sequence[Path], settings: Settings) -> list[ExamItem]:
    from service.exam_file import read_exam

    return [
        item
        for path in exams
        for item in read_exam(path, max_answer_chars=settings.max_answer_chars)
    ]
