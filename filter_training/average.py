"""The mean of adapters that were trained from one and the same start ("model soups", ICML 2022)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copyfile

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from service.errors import InputError
from service.model_store import ADAPTER_CONFIG, ADAPTER_WEIGHTS


def average_adapters(adapters: Sequence[Path], out: Path) -> None:
    """Write the mean of the adapters' matrices, with the settings of the first one.

    A and B of each LoRA pair are averaged apart. Where the adapters differ little, as after a
    short training from a common start, that is close to the mean of what they add to the weights.

    Args:
        adapters: folders in PEFT's format, of the same shape.
        out: a new folder.

    Raises:
        InputError: a folder holds no adapter, they are not of one shape, or `out` exists.
    """
    if out.exists():
        raise InputError(f"{out} exists; name a new folder")
    loaded = [_load(adapter) for adapter in adapters]
    scale, first = loaded[0]
    for adapter, (its_scale, weights) in zip(adapters, loaded, strict=True):
        if its_scale != scale or _shapes(weights) != _shapes(first):
            raise InputError(f"{adapter} is not of the shape of {adapters[0]}")
    mean = {
        name: torch.stack([weights[name].float() for _, weights in loaded]).mean(0).to(matrix.dtype)
        for name, matrix in first.items()
    }
    out.mkdir(parents=True)
    copyfile(adapters[0] / ADAPTER_CONFIG, out / ADAPTER_CONFIG)
    save_file(mean, out / ADAPTER_WEIGHTS, metadata={"format": "pt"})


def _load(adapter: Path) -> tuple[dict[str, object], dict[str, torch.Tensor]]:
    """What scales an adapter, and its matrices."""
    try:
        config = json.loads((adapter / ADAPTER_CONFIG).read_text(encoding="utf-8"))
        weights = load_file(adapter / ADAPTER_WEIGHTS)
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"{adapter} holds no adapter: {error}") from error
    return {name: config.get(name) for name in ("r", "lora_alpha", "use_rslora")}, weights


def _shapes(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: matrix.shape for name, matrix in weights.items()}
