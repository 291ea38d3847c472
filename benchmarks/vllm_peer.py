"""vLLM in an environment of its own, with the weights and the calls of the product's peers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from pydantic import BaseModel, ConfigDict, TypeAdapter

from benchmarks.calls import Call
from benchmarks.subject import Subject

_SCRIPT = Path(__file__).with_name("vllm_run.py")
_SHOWN_LINES = 20

Wave = Sequence[Call]
"""Calls of one role that vLLM is given at once."""


@dataclass(frozen=True)
class _Job:
    """What `vllm_run.py` is told to do.

    Attributes:
        base: folder of the base model.
        dtype: precision of its weights and of all that is computed.
        adapters: folder of each role's adapter; a role without one is the bare base's.
        end_ids: tokens that end a turn.
        warm_up: what is written first, untimed.
        waves: what is timed, one wave after the other.
    """

    base: str
    dtype: str
    adapters: Mapping[str, str]
    end_ids: Sequence[int]
    warm_up: Sequence[Wave]
    waves: Sequence[Wave]


class VllmRun(BaseModel):
    """What `vllm_run.py` measured.

    Attributes:
        version: of vLLM.
        seconds: all waves took, without loading the model and warming up.
        written: tokens of each call, by wave.
        cached: tokens of prompts that were taken from the prefix cache.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    seconds: float
    written: list[list[int]]
    cached: int


def missing(environment: Path) -> str | None:
    """Why nothing can be measured with an environment; None if it can."""
    if _python(environment).exists():
        return None
    return f"there is no environment of vLLM in {environment.name}: `make vllm` makes one"


class Vllm:
    """vLLM with the weights of a subject, in the precision in which that runs on a CPU.

    Args:
        environment: folder of a virtual environment with vLLM.
        subject: whose base and adapters are loaded.
        end_ids: tokens that end a turn.
    """

    def __init__(self, environment: Path, subject: Subject, end_ids: Sequence[int]) -> None:
        self._environment = environment
        self._subject = subject
        self._end_ids = end_ids

    def write(self, waves: Sequence[Wave], *, warm_up: Sequence[Wave]) -> VllmRun:
        """Carry out waves of calls, in a process of its own that loads the model anew.

        Args:
            waves: what is timed, one wave after the other.
            warm_up: what is written before.

        Raises:
            RuntimeError: vLLM failed, or wrote more or less than it was to write.
        """
        run = self._run(
            _Job(
                base=str(self._subject.files.base_dir),
                dtype=self._subject.profile.dtype_cpu,
                adapters={
                    role.value: str(adapter.path)
                    for role, adapter in self._subject.files.adapters.items()
                },
                end_ids=self._end_ids,
                warm_up=warm_up,
                waves=waves,
            )
        )
        for wave, counts in zip(waves, run.written, strict=True):
            for call, count in zip(wave, counts, strict=True):
                if count > call.tokens or (call.exactly and count < call.tokens):
                    raise RuntimeError(f"vLLM wrote {count} tokens and not {call.tokens}")
        return run

    def _run(self, job: _Job) -> VllmRun:
        with TemporaryDirectory() as folder:
            job_file, result_file = Path(folder, "job.json"), Path(folder, "result.json")
            job_file.write_bytes(TypeAdapter(_Job).dump_json(job))
            log_file = Path(folder, "log")
            python = _python(self._environment)
            # -P: the modules beside the script must not stand in for libraries of the same name.
            with log_file.open("wb") as log:
                done = subprocess.run(
                    (python, "-P", _SCRIPT, job_file, result_file),
                    cwd=folder,
                    env=_variables(self._environment),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
            if done.returncode:
                lines = log_file.read_text(encoding="utf-8", errors="replace").splitlines()
                said = "\n".join(lines[-_SHOWN_LINES:])
                raise RuntimeError(
                    f"vLLM in {self._environment} ended with {done.returncode}; it said:\n{said}"
                )
            return VllmRun.model_validate_json(result_file.read_bytes())


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _variables(environment: Path) -> dict[str, str]:
    """As many threads as this process has; a variable of vLLM's that is set already stands."""
    variables = {
        # On few cores, processes that wait for each other cost more than they bring.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(torch.get_num_threads()),
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    # vLLM's documentation wants these preloaded, for speed.
    openmp = environment / "lib" / "libiomp5.so"
    allocator = find_library("tcmalloc_minimal")
    libraries = [*([allocator] if allocator else []), *([str(openmp)] if openmp.exists() else [])]
    if libraries:
        variables["LD_PRELOAD"] = ":".join(libraries)
    return variables | os.environ
