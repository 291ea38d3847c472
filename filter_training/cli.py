"""`steadyeval train`: make an adapter from exam files by a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

train_app = typer.Typer(help="Train the adapters of a model profile.", no_args_is_help=True)


@train_app.command()
def run(
    recipe: Annotated[str, typer.Argument(help="Name of a shipped recipe, or a recipe file.")],
    exam: Annotated[list[Path], typer.Option(help="Exam file to train on; may be repeated.")],
    out: Annotated[Path, typer.Option(help="Run folder; a run that was killed goes on there.")],
    split: Annotated[str, typer.Option(help="Split to use of files that have one.")] = "train",
) -> None:
    """Train an adapter; it is written to OUT/adapter.

    A run folder holds the data (`dataset.jsonl`), what the run rests on (`run.json`), its
    losses (`progress.jsonl`) and its last checkpoint.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from filter_training.recipe import load_recipe
    from filter_training.run import train
    from filter_training.sampling import unattacked
    from filter_training.trainer import Progress as TrainingProgress
    from service.exam_file import read_exam
    from service.settings import load_settings

    chosen = load_recipe(recipe)
    settings = load_settings(profile=chosen.profile)
    items = [
        item
        for path in exam
        for item in read_exam(path, max_answer_chars=settings.max_answer_chars)
    ]
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

        best = train(chosen, unattacked(items, split), out, settings, report=report)
    console.print(f"adapter in {out / 'adapter'}, validation loss {best:.4f}")
