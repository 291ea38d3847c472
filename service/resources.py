"""Where the data folders are: beside the packages in a checkout, inside them in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def models_dir() -> Path:
    """The folder of the model profiles that we ship."""
    return _folder("models")


def neo4j_dir() -> Path:
    """The folder of the graph schema and the documented queries."""
    return _folder("neo4j")


def examples_dir() -> Path:
    """The folder of the exam to try."""
    return _folder("examples")


def _folder(name: str) -> Path:
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name
