"""`steadyeval` on a tiny model that stands still while there is a file `hold` in its home.

Run it as `python -m tests.service.cli.holdable_service serve …`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.subject import open_knowing_engine
from service.cli import main
from service.engine import factory
from service.engine.base import Engine
from service.engine.transformers_engine import TransformersEngine
from service.engine.worker import BatchFunction
from service.settings import Settings

HOLD = "hold"


def _open_engine(settings: Settings) -> Engine:
    engine = open_knowing_engine(settings)
    assert isinstance(engine, TransformersEngine)
    worker = engine._worker
    worker._functions = {
        kind: partial(_run, settings.home / HOLD, run) for kind, run in worker._functions.items()
    }
    return engine


def _run(hold: Path, run: BatchFunction, items: Sequence[Any]) -> Sequence[Any]:
    while hold.exists():
        time.sleep(0.02)
    return run(items)


if __name__ == "__main__":
    factory.open_engine = _open_engine
    main()
