"""A short soak; `make soak` runs longer ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.soak import soak


@pytest.mark.slow
def test_every_promise_holds_through_kills_and_load(tmp_path: Path) -> None:
    soak(tmp_path, rounds=10, seconds=20, clients=64, seed=1, tell=print)
