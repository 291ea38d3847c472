from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.jobs import JobStore
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from tests.service.scripted_engine import ScriptedEngine


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    with JobStore(tmp_path / "jobs.sqlite3", most_jobs=4) as store:
        yield store


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def pipeline(engine: ScriptedEngine, ledger: Ledger) -> GradingPipeline:
    return GradingPipeline(engine, ledger=ledger)
