"""`steadyeval attack`: attackers that see what the filter did and try again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from service.cli.options import ProfileOption, given_settings
from service.errors import InputError

if TYPE_CHECKING:
    from evaluation.adaptive.search import Attack

_LIBRARIES = ("steadyeval", "torch", "transformers", "peft")
_SETTINGS = ("engine", "device", "batch_size")


def attack(
    exam: Annotated[list[Path], typer.Argument(help="Exam files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; a killed run goes on there.")],
    rounds: Annotated[
        int, typer.Option(min=0, max=50, help="How often an attacker tries again.")
    ] = 5,
    attempts: Annotated[
        int, typer.Option(min=1, max=20, help="Attacks that it tries in each round.")
    ] = 4,
    sees: Annotated[
        Literal["filter", "score"],
        typer.Option(help="It sees what the filter left, or that and its score."),
    ] = "filter",
    pipelines: Annotated[
        str, typer.Option(help="Pipelines to attack, as in `steadyeval evaluate`.")
    ] = "copy",
    families: Annotated[
        str | None, typer.Option(help="Families of attacks, with commas between; default: all.")
    ] = None,
    split: Annotated[str, typer.Option(help="Split to use of files that have one.")] = "test",
    sample: Annotated[
        int | None, typer.Option(min=1, help="Answers to draw, evenly by question.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw and of the attacks.")] = 1,
    profile: ProfileOption = None,
    filter_profile: Annotated[
        str | None, typer.Option(help="Profile that filters, where it is another one.")
    ] = None,
    grade_profile: Annotated[
        str | None, typer.Option(help="Profile that grades, where it is another one.")
    ] = None,
) -> None:
    """Attack answers again and again, each time with what was removed in mind.

    An attack succeeds if anything of it is left and the score rises by two points of ten or more.
    OUT gets tables and a figure of success against rounds, adaptive.json, attempts.jsonl with ids
    and numbers, and found.jsonl, which holds answers with the attacks that got through. No
    attempt is in a ledger or a graph.
    """
    # Only here, since help needs none of it.
    from evaluation.adaptive.journal import AttackDescription, AttackJournal, Sees
    from evaluation.adaptive.results import write_results
    from evaluation.adaptive.search import attack_all, most_calls
    from evaluation.draw import Draw
    from evaluation.engines import check_filters, open_engines
    from evaluation.pipelines import pipelines_named
    from evaluation.run import procedure
    from filter_training.attacks import FAMILIES
    from filter_training.progress import progress

    console = Console(stderr=True)
    settings = given_settings(profile=profile)
    attacked = pipelines_named(pipelines)
    chosen = _families(families, list(FAMILIES))
    draw = Draw(tuple(exam), split, sample, seed)
    items = draw.items(settings)
    filters, grades = filter_profile or settings.profile, grade_profile or settings.profile
    with ExitStack() as stack:
        with console.status(f"loading {escape(' and '.join(dict.fromkeys((filters, grades))))}"):
            engines = stack.enter_context(
                open_engines(settings, attacked.values(), filters=filters, grades=grades)
            )
        models = {name: engines.models(pipeline) for name, pipeline in attacked.items()}
        with console.status("checking the filter"):
            check_filters(models.values())
        description = AttackDescription(
            started_at=datetime.now(UTC),
            command=("steadyeval", *sys.argv[1:]),
            settings={name: getattr(settings, name) for name in _SETTINGS},
            profiles=engines.profiles,
            fingerprints=engines.fingerprints,
            pipelines={name: procedure(one) for name, one in models.items()},
            families=tuple(chosen),
            sees=Sees(sees),
            rounds=rounds,
            attempts=attempts,
            split=split,
            sample=sample,
            seed=seed,
            exams=draw.hashes(),
            versions={library: version(library) for library in _LIBRARIES},
        )
        journal = AttackJournal(out, description)
        total = len(items) * len(chosen) * len(models)
        texts, graded = most_calls(description, len(items))
        console.print(
            f"{total} attacks on {len(items)} answers: at most {texts} texts to filter and "
            f"{graded} to grade",
            highlight=False,
        )
        with progress(console, total, doing="attacking") as report:
            attacks = attack_all(models, items, journal, report=report)
    write_results(out, attacks, journal.description)
    _summarise(attacks, list(attacked))
    console.print(
        f"tables and the figure are in {escape(str(out))}; found.jsonl there holds answers",
        highlight=False,
    )


def _families(given: str | None, known: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(given.split(","))) if given else list(known)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no family {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def _summarise(attacks: Sequence[Attack], pipelines: Sequence[str]) -> None:
    terminal = Console()
    for name in pipelines:
        its = [one for one in attacks if one.target.pipeline == name]
        room = [one for one in its if one.target.room]
        succeeded = sum(one.round_of(one.succeeds) is not None for one in room)
        survived = sum(one.round_of(lambda tried: tried.survives) is not None for one in its)
        terminal.print(
            f"{name}: {succeeded} of {len(room)} attacks succeeded where the score had room to "
            f"rise; something was left of {survived} of {len(its)}",
            highlight=False,
        )
