"""Options that several commands have, and the settings that they change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service.settings import Settings, load_settings

ExamArgument = Annotated[Path, typer.Argument(help="Exam file: JSONL, or CSV with such columns.")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="Results file (JSONL).")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the results file.")]
ProfileOption = Annotated[
    str | None, typer.Option(help="Name of the model profile, or path of its folder.")
]
GraphOption = Annotated[
    str | None, typer.Option(help="embedded, none, or the Bolt URI of a Neo4j 5.")
]


def given_settings(**options: str | None) -> Settings:
    """The settings, where options that were given win."""
    return load_settings(**{name: value for name, value in options.items() if value is not None})
