"""The tiny Mistral of the tests as a GGUF file, for servers built on llama.cpp."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
from gguf.vocab import LlamaHfVocab, SpecialVocab
from safetensors.torch import load_file
from torch import Tensor


def write_gguf(base: Path, file: Path) -> None:
    """Convert the model and tokenizer in `base`, in float32."""
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    tokens, scores, kinds = zip(*LlamaHfVocab(base).all_tokens(), strict=True)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    SpecialVocab(base, n_vocab=len(tokens)).add_to_gguf(writer)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, weight in load_file(base / "model.safetensors").items():
        projection = name.split(".")[-2]
        if projection in heads:
            weight = _rotary_pairs(weight, heads[projection])
        writer.add_tensor(names.get_name(name, (".weight",)), weight.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _rotary_pairs(weight: Tensor, heads: int) -> Tensor:
    """llama.cpp keeps the two halves of a rotary pair side by side."""
    rows, columns = weight.shape
    pairs = weight.reshape(heads, 2, rows // heads // 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)
