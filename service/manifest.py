"""What a folder of model files holds: the hash of every file, written down once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

MANIFEST_FILE = "manifest.json"
_BLOCK = 1 << 20


class FileEntry(BaseModel):
    """One file; size and time tell cheaply whether it is still the one that was hashed."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    size: int
    modified_ns: int


class Manifest(BaseModel):
    """The files of a model folder by name. Sub-folders and hidden files are no part of it."""

    model_config = ConfigDict(frozen=True)

    files: Mapping[str, FileEntry]

    @classmethod
    def of(cls, folder: Path, hashed: Callable[[int], None] = lambda _: None) -> Self:
        """Hash all files of `folder`; `hashed` is told how many more bytes are done."""
        return cls(
            files={
                file.name: FileEntry(
                    sha256=hash_file(file, hashed),
                    size=file.stat().st_size,
                    modified_ns=file.stat().st_mtime_ns,
                )
                for file in model_files(folder)
            }
        )

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """The manifest in `file`, or None if there is none that can be read."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except (OSError, ValueError):
            return None

    def write(self, file: Path) -> None:
        """Write it down as JSON."""
        file.write_text(self.model_dump_json(indent=1), encoding="utf-8")

    @property
    def digest(self) -> str:
        """One hash over names and contents of all files."""
        lines = (f"{entry.sha256}  {name}\n" for name, entry in sorted(self.files.items()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def untouched(self, folder: Path) -> bool:
        """True if names, sizes and times are as they were; reads no file."""
        return {
            file.name: (file.stat().st_size, file.stat().st_mtime_ns)
            for file in model_files(folder)
        } == {name: (entry.size, entry.modified_ns) for name, entry in self.files.items()}

    def faults(self, actual: Manifest) -> list[str]:
        """What is different in `actual`, one text a file."""
        faults = [f"{name} is missing" for name in self.files.keys() - actual.files.keys()]
        faults += [f"{name} is new" for name in actual.files.keys() - self.files.keys()]
        faults += [
            f"{name} has SHA-256 {actual.files[name].sha256}, not {entry.sha256}"
            for name, entry in self.files.items()
            if name in actual.files and actual.files[name].sha256 != entry.sha256
        ]
        return sorted(faults)


def model_files(folder: Path) -> list[Path]:
    """The files that belong to a model folder, sorted by name."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.is_file() and not file.name.startswith(".") and file.name != MANIFEST_FILE
    )


def hash_file(file: Path, hashed: Callable[[int], None] = lambda _: None) -> str:
    """SHA-256 of a file, hex."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            hashed(len(block))
    return digest.hexdigest()
