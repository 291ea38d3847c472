"""The command line."""

from __future__ import annotations

import sys

import typer

from service.errors import InputError, SteadyEvalError


def main() -> None:
    """Run the command line; an error raised on purpose becomes one message and an exit code.

    Exit codes: 0 done, 1 it could not be done, 2 what was given cannot be used.
    """
    from service.cli.app import app

    try:
        app()
    except SteadyEvalError as error:
        typer.echo(f"steadyeval: {error}", err=True)
        sys.exit(2 if isinstance(error, InputError) else 1)
