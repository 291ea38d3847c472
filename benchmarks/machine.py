"""On what a bench ran."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

_LIBRARIES = (
    "steadyeval",
    "torch",
    "transformers",
    "peft",
    "fastapi",
    "uvicorn",
    "neo4j",
    "arcadedb-embedded",
)


def machine() -> str:
    """Processor, cores that may be used, memory, accelerator and system, in words."""
    import torch

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [
        f"{_processor()}, {_cores()} cores, {memory:.0f} GiB",
        f"{torch.get_num_threads()} threads of torch",
        platform.platform(terse=True),
    ]
    if torch.accelerator.is_available():
        parts.append(torch.cuda.get_device_name() if torch.cuda.is_available() else "accelerator")
    return "; ".join(parts)


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that decide how fast it is."""
    return {"Python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
