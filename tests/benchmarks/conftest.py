from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.subject import Subject, tiny_subject


@pytest.fixture(scope="session")
def subject() -> Iterator[Subject]:
    with tiny_subject() as subject:
        yield subject
