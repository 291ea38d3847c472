"""Files of a measurement that grows batch by batch, so that it may be killed at any time."""

from __future__ import annotations

import os
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from service.errors import SettingsError

_Entry = TypeVar("_Entry", bound=BaseModel)
_Description = TypeVar("_Description", bound=BaseModel)


class JsonLines(Generic[_Entry]):
    """A file of results, one a line, that is only added to.

    A last line that a kill cut off is dropped, from the file too.

    Args:
        path: of the file, which need not be there.
        kind: what a line holds.

    Attributes:
        entries: what was in the file, and what was added since.

    Raises:
        SettingsError: the file holds something else.
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path, kind: type[_Entry]) -> None:
        self._path = path
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            os.truncate(path, len(whole))
        try:
            self.entries = [kind.model_validate_json(line) for line in whole.splitlines()]
        except ValidationError as error:
            raise SettingsError(f"{path} holds what is no result; give a new folder") from error

    def append(self, entries: Sequence[_Entry]) -> None:
        """Keep results, safe from a crash of the machine."""
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(f"{entry.model_dump_json()}\n" for entry in entries)
            file.flush()
            os.fsync(file.fileno())
        self.entries += entries


def claim(
    path: Path, description: _Description, *, may_differ: Set[str] = frozenset()
) -> _Description:
    """Let a file say what its folder's results are of: those of different runs never mix.

    Args:
        path: of the file.
        description: of this run.
        may_differ: fields that do not tell runs apart.

    Returns:
        What stands in the file: the description of the call that began the run.

    Raises:
        SettingsError: the file says otherwise.
        OSError: the file cannot be used.
    """
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
