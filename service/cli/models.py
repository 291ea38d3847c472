"""`steadyeval models`: which models there are, and bringing, checking and adding them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column, Table

from service import download, model_store
from service.engine.base import Role
from service.errors import MissingWeightsError
from service.profile import ModelProfile, Terms, load_profile, profile_names
from service.profile_writer import write_profile
from service.settings import Settings, load_settings

models_app = typer.Typer(help="List, fetch, check and add models.", no_args_is_help=True)

Name = Annotated[
    str | None,
    typer.Argument(help="Profile name, or a folder with a profile.toml. Default: the one in use."),
]


class Justification(StrEnum):
    """Whether the grader explains a score."""

    NONE = "none"
    PROSE = "prose"


@models_app.command("list")
def list_models() -> None:
    """List all model profiles and say what of them is on this machine."""
    settings = load_settings()
    table = Table(
        Column("profile", no_wrap=True),
        Column("base", overflow="fold"),
        *("weights", "filter", "grader", "for"),
    )
    for name in profile_names(settings):
        profile = load_profile(name, settings)
        table.add_row(
            f"{name} *" if name == settings.profile else name,
            str(profile.base),
            _weights(profile, settings),
            _adapter(profile, Role.FILTER),
            _adapter(profile, Role.GRADE),
            "trying" if profile.provisional else "grading",
        )
    table.caption = "* in use (STEADYEVAL_PROFILE)"
    Console().print(table)


@models_app.command()
def fetch(
    name: Name = None,
    accept_terms: Annotated[
        bool,
        typer.Option("--accept-terms", help="I have read the model's terms and accept them."),
    ] = False,
) -> None:
    """Bring the base model of a profile; does nothing where it is here already.

    A model that comes under terms of its own shows them and asks first; in a script, say
    --accept-terms.
    """
    settings = load_settings()
    profile = load_profile(name or settings.profile, settings)
    try:
        base = model_store.locate_base(profile, settings)
        typer.echo(f"{profile.name}: the base model is already here, in {base.path}")
    except MissingWeightsError:
        if (terms := model_store.terms_to_accept(profile, settings)) and (
            accept_terms or _agrees(profile, terms)
        ):
            model_store.accept_terms(profile, settings)
        with _progress_bars() as progress:
            base = model_store.fetch_base(profile, settings, progress)
        typer.echo(f"{profile.name}: the base model is in {base.path}")
    for role, what_to_run in model_store.missing_adapters(profile).items():
        typer.echo(f"{profile.name}: the {role} adapter is missing; {what_to_run}", err=True)


@models_app.command()
def check(name: Name = None) -> None:
    """Hash the weights of a profile again and compare; loads no model."""
    settings = load_settings()
    profile = load_profile(name or settings.profile, settings)
    with _progress_bars() as progress:
        files = model_store.check(profile, settings, progress)
    typer.echo(f"{profile.name}: base {files.base_hash[:16]} in {files.base_dir} is intact")
    for role, adapter in files.adapters.items():
        typer.echo(f"{profile.name}: {role} adapter {adapter.sha256[:16]} in {adapter.path}")


@models_app.command()
def add(
    name: Annotated[str, typer.Argument(help="Name of the new profile.")],
    base: Annotated[
        str,
        typer.Option(help="Folder with a model, or a Hugging Face hub id such as org/model."),
    ],
    revision: Annotated[
        str | None, typer.Option(help="Commit of the hub repository (40 hex digits).")
    ] = None,
    filter_adapter: Annotated[
        Path | None, typer.Option(help="Folder of the PEFT adapter that filters.")
    ] = None,
    grader_adapter: Annotated[
        Path | None, typer.Option(help="Folder of the PEFT adapter that grades, if any.")
    ] = None,
    justification: Annotated[
        Justification, typer.Option(help="Whether the grader writes prose before its score.")
    ] = Justification.PROSE,
) -> None:
    """Add a profile of your own, for any decoder-only transformers model."""
    profile = write_profile(
        name,
        load_settings(),
        base=base,
        revision=revision,
        adapters={
            role: folder
            for role, folder in ((Role.FILTER, filter_adapter), (Role.GRADE, grader_adapter))
            if folder is not None
        },
        justification=justification.value,
    )
    typer.echo(
        f"{profile.folder / 'profile.toml'} is written; "
        f"next: steadyeval models fetch {profile.name}"
    )


def _agrees(profile: ModelProfile, terms: Terms) -> bool:
    """Ask whoever sits at the terminal; where nobody does, nobody has agreed."""
    if not sys.stdin.isatty():
        return False
    typer.echo(
        f"The base model of profile {profile.name} ({profile.base}) comes under terms of its own.\n"
        f"{terms.notice}.\n"
        f"Read the {terms.title} at {terms.url} before you answer.",
        err=True,
    )
    return typer.confirm(f"Do you accept the {terms.title}?", err=True)


def _weights(profile: ModelProfile, settings: Settings) -> str:
    try:
        model_store.locate_base(profile, settings)
    except MissingWeightsError:
        return "no"
    return "here"


def _adapter(profile: ModelProfile, role: Role) -> str:
    if role not in profile.adapters:
        return "none"
    return "missing" if role in model_store.missing_adapters(profile) else "here"


@contextmanager
def _progress_bars() -> Iterator[download.Progress]:
    """One bar for each step. The display starts with the first: the hub client draws its own."""
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
    tasks: dict[str, TaskID] = {}

    def show(step: str, done: int, total: int | None) -> None:
        if step not in tasks:
            bars.start()
            for task in tasks.values():
                bars.stop_task(task)
            tasks[step] = bars.add_task(step, total=total)
        bars.update(tasks[step], completed=done, total=total)

    try:
        yield show
    finally:
        bars.stop()
