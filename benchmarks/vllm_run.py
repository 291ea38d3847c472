"""Have vLLM carry out calls in waves: `python vllm_run.py JOB.json RESULT.json`.

The Python of vLLM's own environment runs this file, so nothing of the project can be imported.
Job and result are those of `benchmarks.vllm_peer`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any, get_args

import vllm
from vllm.config.lora import MaxLoRARanks
from vllm.lora.request import LoRARequest

_CACHE_BYTES = 4 * 2**30


def main(job_file: Path, result_file: Path) -> None:
    """Load the model, warm up, and time the waves from an empty prefix cache."""
    job = json.loads(job_file.read_text(encoding="utf-8"))
    adapters = {
        role: LoRARequest(role, number, folder)
        for number, (role, folder) in enumerate(job["adapters"].items(), start=1)
    }
    model = vllm.LLM(
        model=job["base"],
        dtype=job["dtype"],
        # Defaults that ship with a model would change what greedy decoding costs.
        generation_config="vllm",
        enable_prefix_caching=True,
        **_lora(job["adapters"].values()),
        performance_mode="throughput",
        kv_cache_memory_bytes=_CACHE_BYTES,
    )
    for wave in job["warm_up"]:
        _write(model, wave, adapters, job["end_ids"])
    model.reset_prefix_cache()
    began = perf_counter()
    waves = [_write(model, wave, adapters, job["end_ids"]) for wave in job["waves"]]
    seconds = perf_counter() - began
    result = {
        "version": vllm.__version__,
        "seconds": seconds,
        "written": [[len(each.outputs[0].token_ids) for each in wave] for wave in waves],
        "cached": sum(each.num_cached_tokens for wave in waves for each in wave),
    }
    result_file.write_text(json.dumps(result), encoding="utf-8")


def _write(model: Any, wave: list[Any], adapters: dict[str, Any], end_ids: list[int]) -> Any:
    """All calls of a wave at once; they have one role."""
    return model.generate(
        [{"prompt_token_ids": call["prompt"]} for call in wave],
        [
            vllm.SamplingParams(
                temperature=0,
                max_tokens=call["tokens"],
                ignore_eos=call["exactly"],
                stop_token_ids=None if call["exactly"] else end_ids,
            )
            for call in wave
        ],
        lora_request=adapters.get(wave[0]["role"]),
        use_tqdm=False,
    )


def _lora(folders: Iterable[str]) -> dict[str, Any]:
    """Room for the adapters and for the least rank that vLLM has and none exceeds."""
    configs = [Path(folder, "adapter_config.json").read_text("utf-8") for folder in folders]
    if not configs:
        return {}
    rank = max(json.loads(config)["r"] for config in configs)
    room = min(room for room in get_args(MaxLoRARanks) if room >= rank)
    return {"enable_lora": True, "max_loras": len(configs), "max_lora_rank": room}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
