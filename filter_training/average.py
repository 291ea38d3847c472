"""The mean of adapters that were trained from one and the same start ("model soups", ICML 2022)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from service.errors import InputError

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


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
    shapes = [_shape(adapter) for adapter in adapters]
    for adapter, shape in zip(adapters, shapes, strict=True):
        if shape != shapes[0]:
            raise InputError(f"{adapter} is not of the shape of {adapters[0]}")
    weights = [load_file(adapter / _WEIGHTS) for adapter in adapters]
    mean = {
        name: torch.stack([each[name].float() for each in weights]).mean(0).to(first.dtype)
        for name, first in weights[0].items()
    }
    out.mkdir(parents=True)
    copyfile(adapters[0] / _CONFIG, out / _CONFIG)
    save_file(mean, out / _WEIGHTS, metadata={"format": "pt"})


def _shape(adapter: Path) -> tuple[dict[str, object], dict[str, torch.Size]]:
    """Scale of an adapter, and the shapes of its matrices."""
    try:
        config = json.loads((adapter / _CONFIG).read_text(encoding="utf-8"))
        weights = load_file(adapter / _WEIGHTS)
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"{adapter} holds no adapter: {error}") from error
    scale = {name: config.get(name) for name in ("r", "lora_alpha", "use_rslora")}
    return scale, {name: matrix.shape for name, matrix in weights.items()}
