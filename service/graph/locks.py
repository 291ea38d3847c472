"""Advisory file locks that the kernel releases when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_private(path: Path) -> Iterator[int]:
    """A descriptor of `path`, which only its owner may read; made where missing."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def exclusive(path: Path) -> Iterator[int]:
    """Hold `path` alone; wait for it. Yields the descriptor, which carries the lock."""
    with open_private(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor


@contextmanager
def shared(path: Path) -> Iterator[int]:
    """Hold `path` together with others; yields the descriptor, which carries the lock."""
    with open_private(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield descriptor


def try_exclusive(descriptor: int) -> bool:
    """Take the descriptor's file alone if nobody else holds it."""
    return _try(descriptor, fcntl.LOCK_EX)


def is_exclusive(path: Path) -> bool:
    """True if somebody holds `path` alone. Several may look at once."""
    if not path.exists():
        return False
    with open_private(path) as descriptor:
        return not _try(descriptor, fcntl.LOCK_SH)


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
