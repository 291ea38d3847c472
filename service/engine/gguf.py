"""Turns a quantised GGUF file into a folder that loads in a second."""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def dequantise(gguf: Path, folder: Path) -> None:
    """Write model (bfloat16 safetensors) and tokenizer of `gguf` into `folder`."""
    source, name = str(gguf.parent), gguf.name
    with redirect_stderr(StringIO()):  # progress bars that no setting of transformers turns off
        tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=name)
        model = AutoModelForCausalLM.from_pretrained(
            source,
            gguf_file=name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.bfloat16,
        )
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
