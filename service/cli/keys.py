"""`steadyeval keys`: API keys of the service on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.table import Table

from service.access.keys import ApiKey, IssuedKey, KeyLimits, Role, prefix_of
from service.cli.cell import cell
from service.cli.options import given_settings
from service.errors import InputError

if TYPE_CHECKING:
    from service.access import KeyStore

keys_app = typer.Typer(help="Make and end the keys of the HTTP API.", no_args_is_help=True)

_YEARS_10 = 3653
_WEEK_H = 168
_SMALLEST_BODY = 1024

DaysOption = Annotated[
    int, typer.Option("--days", min=1, max=_YEARS_10, help="How long the new key is valid.")
]
PrefixArgument = Annotated[str, typer.Argument(help="Prefix of the key, as `keys list` shows it.")]


@keys_app.command()
def create(
    name: Annotated[str, typer.Argument(help="Who or what will use the key.")],
    role: Annotated[list[Role], typer.Option(help="What it may do. Repeatable.")],
    exam: Annotated[
        list[str] | None,
        typer.Option(help="Id of an exam that it reaches; without any, all. Repeatable."),
    ] = None,
    rate: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Most requests a minute, in place of STEADYEVAL_REQUESTS_PER_MINUTE.",
        ),
    ] = None,
    max_body: Annotated[
        int | None,
        typer.Option(
            min=_SMALLEST_BODY,
            help="Longest body of a request or batch, in bytes; the settings' limits hold too.",
        ),
    ] = None,
    days: DaysOption = 365,
) -> None:
    """Make a key and print it, this once, to standard output.

    From the first key on, every request but the probes needs one.
    """
    named = _identifier("name", name)
    exams = frozenset(_identifier("--exam", exam_id) for exam_id in exam or ())
    with _store() as store:
        issued = store.create(
            named,
            frozenset(role),
            exams=exams or None,
            limits=KeyLimits(rate, max_body),
            lifetime=timedelta(days=days),
        )
    _hand_out(issued)


@keys_app.command("list")
def list_keys() -> None:
    """List all keys that were ever made, without their secrets."""
    with _store() as store:
        keys = store.keys()
    table = Table(
        "prefix", "name", "roles", "exams", "requests/min", "body bytes", "made", "expires", "state"
    )
    for key in keys:
        table.add_row(*map(cell, _columns(key)))
    Console().print(table if keys else "no keys; make one: steadyeval keys create")


@keys_app.command()
def revoke(prefix: PrefixArgument) -> None:
    """End a key now."""
    with _store() as store:
        key = store.revoke(_checked(prefix))
    typer.echo(f"the key {key.prefix} of {key.name} is revoked")


@keys_app.command()
def rotate(
    prefix: PrefixArgument,
    days: DaysOption = 365,
    overlap_hours: Annotated[
        int, typer.Option(min=0, max=_WEEK_H, help="How much longer the old key is valid.")
    ] = 0,
) -> None:
    """Replace a key by a new one with all that it may, and print that this once."""
    with _store() as store:
        issued = store.rotate(
            _checked(prefix),
            lifetime=timedelta(days=days),
            overlap=timedelta(hours=overlap_hours),
        )
    _hand_out(issued)


@contextmanager
def _store() -> Iterator[KeyStore]:
    from service.access import KeyStore

    with KeyStore(given_settings().keys_path) as store:
        yield store


def _identifier(what: str, value: str) -> str:
    from service.exam_record import Identifier

    try:
        checked: str = TypeAdapter(Identifier).validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"{what} {value!r}: {reason}") from None
    return checked


def _checked(prefix: str) -> str:
    if prefix_of(prefix) is not None:
        raise InputError(
            "this is a whole key, which now stands in the history of your shell: give the prefix "
            "alone, up to its second _, and replace the key if others can read that history"
        )
    return prefix


def _hand_out(issued: IssuedKey) -> None:
    key = issued.key
    typer.echo(
        f"{key.prefix} of {key.name}, until {key.expires_at:%Y-%m-%d}: the key is shown this "
        "once; keep it where only its user can read it",
        err=True,
    )
    typer.echo(issued.token)


def _columns(key: ApiKey) -> tuple[str, ...]:
    return (
        key.prefix,
        key.name,
        ", ".join(sorted(key.roles)),
        "all" if key.exams is None else "\n".join(sorted(key.exams)),
        _limit(key.limits.requests_per_minute),
        _limit(key.limits.max_body_bytes),
        f"{key.created_at:%Y-%m-%d}",
        f"{key.expires_at:%Y-%m-%d}",
        key.state(datetime.now(UTC)),
    )


def _limit(number: int | None) -> str:
    return "default" if number is None else f"{number}"
