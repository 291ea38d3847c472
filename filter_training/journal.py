"""A folder of results that grows batch by batch: a measurement may be killed at any time."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence, Set
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from service.errors import InputError, SettingsError

_Key = TypeVar("_Key", bound=Hashable)
_Entry = TypeVar("_Entry", bound=BaseModel)
_Description = TypeVar("_Description", bound=BaseModel)


class Journal(Generic[_Description, _Entry, _Key]):
    """`run.json`, which says what a folder's results are of, and a file of them, one a line.

    Results of different runs never mix. A last line that a kill cut off is dropped, from the file
    too; of several results with one key the last one counts.

    Args:
        folder: is made where it is not there.
        description: of the run that wants to write there.
        file: name of the file of results.
        kind: what a line holds.
        key: what a result is told by.
        may_differ: fields of descriptions that do not tell runs apart.

    Attributes:
        description: of the run that began there.

    Raises:
        SettingsError: the folder holds another run, or files of something else.
        InputError: the folder cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        description: _Description,
        *,
        file: str,
        kind: type[_Entry],
        key: Callable[[_Entry], _Key],
        may_differ: Set[str] = frozenset(),
    ) -> None:
        self._path = folder / file
        self._key = key
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.description = _claimed(folder / "run.json", description, may_differ)
            self._entries = {key(entry): entry for entry in _entries(self._path, kind)}
        except OSError as error:
            raise InputError(f"cannot use {folder}: {error.strerror}") from error

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: _Key) -> bool:
        return key in self._entries

    def get(self, key: _Key) -> _Entry | None:
        """The result with this key, if it is there."""
        return self._entries.get(key)

    @property
    def entries(self) -> Sequence[_Entry]:
        """All results."""
        return tuple(self._entries.values())

    def append(self, entries: Sequence[_Entry]) -> None:
        """Keep results, safe from a crash of the machine."""
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(f"{entry.model_dump_json()}\n" for entry in entries)
            file.flush()
            os.fsync(file.fileno())
        self._entries |= {self._key(entry): entry for entry in entries}


def _entries(path: Path, kind: type[_Entry]) -> list[_Entry]:
    content = path.read_bytes() if path.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        os.truncate(path, len(whole))
    try:
        return [kind.model_validate_json(line) for line in whole.splitlines()]
    except ValidationError as error:
        raise SettingsError(f"{path} holds what is no result; give a new folder") from error


def _claimed(path: Path, description: _Description, may_differ: Set[str]) -> _Description:
    """What stands in the file, once it is known to be of this run."""
    if not path.exists():
        path.write_text(description.model_dump_json(indent=2) + "\n", encoding="utf-8")
        return description
    try:
        there = type(description).model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise SettingsError(f"{path} is no description of a run; give a new folder") from error
    if differing := [
        name
        for name in type(description).model_fields
        if name not in may_differ and getattr(there, name) != getattr(description, name)
    ]:
        raise SettingsError(
            f"{path.parent} holds results of another run ({', '.join(differing)} differ); "
            "give a new folder"
        )
    return there
