"""`steadyeval keys`, as it is typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click import Command, Group
from typer.main import get_command
from typer.testing import CliRunner, Result

from service.access import KeyLimits, KeyStore, Role
from service.cli.app import app
from service.errors import InputError, UnauthorizedError

_TOKEN = re.compile(r"ste_[0-9a-f]{12}_[0-9a-f]{64}\n")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def keys(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["keys", *arguments])


def created(*options: str) -> str:
    result = keys("create", "lms", "--role", "grade", *options)
    assert result.exit_code == 0, result.output
    assert _TOKEN.fullmatch(result.stdout)
    return result.stdout.strip()


def store(home: Path) -> KeyStore:
    return KeyStore(home / "keys.sqlite3")


def test_a_key_is_printed_once_to_standard_output_and_nowhere_else(home: Path) -> None:
    result = keys("create", "lms", "--role", "grade", "--role", "read", "--exam", "e 1")
    token = result.stdout.strip()
    assert _TOKEN.fullmatch(result.stdout)
    assert token not in result.stderr
    assert token.rpartition("_")[0] in result.stderr
    with store(home) as opened:
        key = opened.authenticate(token)
    assert (key.roles, key.exams) == ({Role.GRADE, Role.READ}, {"e 1"})
    listed = keys("list").stdout
    assert token.rpartition("_")[2] not in listed
    for shown in (key.prefix, "lms", "grade, read", "e 1", "active"):
        assert shown in listed


def test_a_key_may_have_limits_of_its_own(home: Path) -> None:
    token = created("--rate", "30", "--max-body", "65536")
    with store(home) as opened:
        assert opened.authenticate(token).limits == KeyLimits(30, 65_536)
    listed = keys("list").stdout
    assert "30" in listed
    assert "65536" in listed
    created()
    assert keys("list").stdout.count("default") == 2


def test_a_list_without_keys_says_how_to_make_one() -> None:
    assert "keys create" in keys("list").stdout


def test_a_revoked_key_is_listed_as_such(home: Path) -> None:
    token = created()
    prefix = token.rpartition("_")[0]
    assert prefix in keys("revoke", prefix).stdout
    assert "revoked" in keys("list").stdout
    with store(home) as opened, pytest.raises(UnauthorizedError):
        opened.authenticate(token)


def test_a_rotated_key_may_overlap(home: Path) -> None:
    old = created()
    new = keys("rotate", old.rpartition("_")[0], "--overlap-hours", "1").stdout.strip()
    with store(home) as opened:
        assert opened.authenticate(old).name == opened.authenticate(new).name == "lms"


@pytest.mark.parametrize("command", ["revoke", "rotate"])
def test_a_whole_key_on_a_command_line_is_refused_and_not_repeated(command: str) -> None:
    token = created()
    result = keys(command, token)
    assert isinstance(result.exception, InputError)
    assert "history" in str(result.exception)
    assert token not in str(result.exception)


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "two\nlines", "--role", "grade"),
        ("create", "", "--role", "grade"),
        ("create", "lms", "--role", "grade", "--exam", ""),
        ("revoke", "ste_nobody"),
    ],
)
def test_what_cannot_be_used_makes_no_key(home: Path, arguments: tuple[str, ...]) -> None:
    assert isinstance(keys(*arguments).exception, InputError)
    with store(home) as opened:
        assert not opened.in_use()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--role", "root"),
        ("--role", "grade", "--days", "0"),
        ("--role", "grade", "--rate", "0"),
        ("--role", "grade", "--max-body", "1023"),
    ],
    ids=str,
)
def test_options_that_are_wrong_are_named(home: Path, options: tuple[str, ...]) -> None:
    assert keys("create", "lms", *options).exit_code == 2
    assert not (home / "keys.sqlite3").exists()


def _options(command: Command) -> set[str]:
    if isinstance(command, Group):
        return {name for child in command.commands.values() for name in _options(child)}
    return {parameter.name or "" for parameter in command.params}


def test_no_command_takes_a_secret() -> None:
    assert not {
        name for name in _options(get_command(app)) if re.search("secret|password|token|key", name)
    }
