"""`steadyeval backup` and `steadyeval restore`: what cannot be made again, to another place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service.cli.options import given_settings


def backup(
    out: Annotated[Path, typer.Argument(help="Folder to make; it must not be there yet.")],
) -> None:
    """Copy ledger, API keys and batch jobs, while the service runs.

    The copy of the ledger is verified. Exit code 1: it has faults, as the ledger has.
    """
    from service.backup import make_backup

    manifest, faults = make_backup(given_settings(), out)
    for fault in faults:
        typer.echo(f"ledger: {fault}")
    typer.echo(f"{', '.join(manifest.files)} are in {out}")
    typer.echo(
        f"ledger {manifest.ledger_id}, {manifest.last_seq} records, head {manifest.head}: "
        f"{f'{len(faults)} fault(s)' if faults else 'good'}"
    )
    raise typer.Exit(1 if faults else 0)


def restore(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="Folder that `backup` made.")],
) -> None:
    """Put a backup into an empty STEADYEVAL_HOME, after checking its hashes and its chain.

    Nothing is replaced. Afterwards, `steadyeval ledger rebuild-graph` makes the graph anew.
    """
    from service.backup import restore_backup

    settings = given_settings()
    manifest = restore_backup(settings, source)
    typer.echo(
        f"ledger {manifest.ledger_id} as of {manifest.created_at:%Y-%m-%d %H:%M:%S %Z}, "
        f"{manifest.last_seq} records, head {manifest.head}, is in {settings.home}"
    )
    typer.echo("next: steadyeval keys list, steadyeval ledger rebuild-graph")
