"""A tiny random Mistral with random LoRA adapters and the tokenizer of Mistral-7B-Instruct-v0.2.

Its words mean nothing, but every tensor takes the way that those of the product take.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    MistralConfig,
    MistralForCausalLM,
)

CONTEXT = 4096
_CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}"
    "{{ ' [INST] ' + message['content'] + ' [/INST]' }}"
    "{% else %}{{ ' ' + message['content'] + eos_token}}{% endif %}{% endfor %}"
)
_PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def write_tokenizer(folder: Path) -> None:
    """Put the tokenizer of Mistral-7B-Instruct-v0.2 into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    model = files("mistral_common") / "data" / "tokenizer.model.v1"
    shutil.copy(str(model), folder / "tokenizer.model")
    config = {
        "tokenizer_class": "LlamaTokenizer",
        "add_bos_token": True,
        "add_eos_token": False,
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "legacy": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = _CHAT_TEMPLATE
    (folder / "tokenizer.model").unlink()
    tokenizer.save_pretrained(folder)


def write_base(folder: Path, *, seed: int = 0) -> None:
    """Put a random Mistral (2 layers, hidden 64, grouped-query attention) into `folder`."""
    write_tokenizer(folder)
    config = MistralConfig(
        vocab_size=32_000,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        sliding_window=None,
        initializer_range=0.2,
        bos_token_id=1,
        eos_token_id=2,
    )
    torch.manual_seed(seed)
    MistralForCausalLM(config).save_pretrained(folder)


def write_restless_base(folder: Path, base: Path, likely: Sequence[int]) -> None:
    """Put a copy of `base` into `folder` that often wants the tokens of `likely`."""
    shutil.copytree(base, folder)
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"][list(likely)] *= 6
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def write_sliding_base(folder: Path) -> None:
    """Put a random Gemma 3 into `folder`: layers that see 8 tokens back, and one that sees all."""
    write_tokenizer(folder)
    config = Gemma3TextConfig(
        vocab_size=32_000,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=CONTEXT,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        initializer_range=0.2,
        bos_token_id=1,
        eos_token_id=2,
    )
    torch.manual_seed(0)
    Gemma3ForCausalLM(config).save_pretrained(folder)


def write_adapter(folder: Path, base: Path, *, seed: int) -> None:
    """Put a LoRA adapter with random non-zero weights for `base` into `folder`."""
    model = MistralForCausalLM.from_pretrained(base)
    config = LoraConfig(
        r=4,
        lora_alpha=8,
        target_modules=_PROJECTIONS,
        init_lora_weights=False,
        task_type="CAUSAL_LM",
    )
    torch.manual_seed(seed)
    get_peft_model(model, config).save_pretrained(folder)


def sha256(path: Path) -> str:
    """SHA-256 of a file, hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
