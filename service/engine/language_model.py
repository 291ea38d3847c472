"""A causal language model with its adapters: what reads tokens and says what comes next."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transformers
from peft import PeftConfig, PeftModel
from peft.tuners.lora import LoraLayer
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, GenerationConfig

from service.engine.base import Role
from service.engine.marks import mark_odds
from service.engine.prefix import HeadMemories, Memory
from service.engine.tokens import PromptEncoder
from service.errors import ProfileError
from service.model_store import AdapterFiles, ModelFiles
from service.observability import metrics
from service.profile import ModelProfile

_LOGITS_AT_ONCE = 2**28


@dataclass(frozen=True)
class Reading:
    """What the model expects after each of some consecutive tokens, and how to read on.

    Position k of a reading is the distribution of the token that comes k-th.

    Attributes:
        actual: log-probability of the token that does come, and of the end at the last place.
        end: log-probability of the end of the turn.
        top: the likeliest token.
        top_log: its log-probability.
        memory: of every token read; what lies behind them in it is not to be read.
        start: tokens read before the first position.
    """

    actual: list[float]
    end: list[float]
    top: list[int]
    top_log: list[float]
    memory: Memory
    start: int


class LanguageModel:
    """One base model in memory, with LoRA adapters that are switched per call.

    Not safe to call from several threads.

    Args:
        profile: how the model is run.
        files: where its weights lie.
        device: `auto`, `cpu` or a torch device.

    Raises:
        ProfileError: the weights cannot be used as the profile says.
    """

    def __init__(self, profile: ModelProfile, files: ModelFiles, device: str = "auto") -> None:
        _silence()
        self.device = _device(device)
        self.dtype = profile.dtype_cpu if self.device.type == "cpu" else profile.dtype_gpu
        self.tokenizer = _load_tokenizer(files.base_dir)
        if profile.chat_template is not None:
            self.tokenizer.chat_template = profile.chat_template
        self.encoder = PromptEncoder(self.tokenizer)
        self.model: Any = _load_base(files.base_dir, self.dtype)
        self.end_ids = _end_ids(self.model, self.tokenizer)
        self.pad_id = self.end_ids[0]
        # The base's own defaults (a temperature, a length) must not seep into greedy decoding.
        self.model.generation_config = self.greedy()
        self.model.to(self.device).eval()
        self.context: int = self.model.config.get_text_config().max_position_embeddings
        self.vocabulary: int = self.model.get_output_embeddings().weight.shape[0]
        self.positions_at_once = max(_LOGITS_AT_ONCE // self.vocabulary, 1)
        self._base_hash = files.base_hash
        self._adapter_hashes = {role: adapter.sha256 for role, adapter in files.adapters.items()}
        self._peft = _attach(self.model, files.adapters, self.device)
        self._adapter: str | None = None
        self._heads = HeadMemories()

    def before_each_pass(self, call: Callable[[], None]) -> None:
        """Call `call` before every forward pass; what it raises ends the work."""

        def hook(*_: object) -> None:
            metrics.FORWARD_PASSES.inc()
            call()

        self.model.get_decoder().register_forward_pre_hook(hook)

    def fingerprint(self, role: Role) -> str:
        """Hash over base, adapter, tokenizer and dtype."""
        adapter = self._adapter_hashes.get(role, "")
        parts = (self._base_hash, adapter, self._tokenizer_hash, self.dtype)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @cached_property
    def _tokenizer_hash(self) -> str:
        state = self.tokenizer.backend_tokenizer.to_str()
        template = self.tokenizer.chat_template
        return hashlib.sha256(f"{state}\n{template}".encode()).hexdigest()

    @contextmanager
    def as_role(self, role: Role | None) -> Iterator[None]:
        """Run the body with the role's adapter; with the bare base for none, or without a role."""
        with torch.inference_mode():
            self._adapter = None if role is None else self._adapter_hashes.get(role)
            if self._peft is None:
                yield
            elif self._adapter is None:
                with self._peft.disable_adapter():
                    yield
            else:
                self._peft.set_adapter(_adapter_name(self._adapter), inference_mode=True)
                yield

    def greedy(self, **settings: Any) -> GenerationConfig:
        """Greedy decoding up to the end of the turn."""
        config: Any = GenerationConfig
        return config(  # type: ignore[no-any-return]
            do_sample=False,
            eos_token_id=list(self.end_ids),
            pad_token_id=self.pad_id,
            **settings,
        )

    def text(self, tokens: Sequence[int]) -> str:
        """What tokens say; control tokens are shown."""
        return str(self.tokenizer.decode(list(tokens), clean_up_tokenization_spaces=False))

    def token_text(self, token_id: int) -> str:
        """The characters that a token adds in the middle of a text."""
        return self.text([*self._anchor_ids, token_id]).removeprefix(self.text(self._anchor_ids))

    @cached_property
    def _anchor_ids(self) -> list[int]:
        return self.encoder.plain_ids("a")

    @cached_property
    def terminators(self) -> list[int]:
        """Tokens that end a line: those that begin with a line break, and the turn's end."""
        return [*self.end_ids, *self.encoder.line_break_ids]

    def next_token(self, row: Sequence[int]) -> Tensor:
        """Log-probability of every token behind a row."""
        logits = self.model(**self.pad([row]), logits_to_keep=1).logits
        return logits[0, -1].float().log_softmax(-1)  # type: ignore[no-any-return]

    def read(
        self,
        head: Sequence[int],
        tails: Sequence[Sequence[int]],
        texts: Sequence[Sequence[int]],
    ) -> list[Reading]:
        """Read each text behind its own prompt, all in one forward pass behind the shared head.

        Only inside `as_role`: the head is read once for each adapter. Neither it nor a tail is
        empty. The caller keeps `len(texts) * logits_width(tails, texts)` below
        `positions_at_once`.
        """
        return self._read_behind(self._head_memory(head), len(head), tails, texts)

    def read_on(
        self, reading: Reading, position: int, accepted: int, texts: Sequence[Sequence[int]]
    ) -> list[Reading]:
        """Go back in a reading, accept another token there, and read each text behind that."""
        length = reading.start + position
        return self._read_behind(reading.memory, length, [[accepted]] * len(texts), texts)

    def mark(
        self,
        role: Role,
        head: Sequence[int],
        tails: Sequence[Sequence[int]],
        texts: Sequence[Sequence[int]],
    ) -> list[list[float]]:
        """The role's marks behind each token of each text, as log-odds.

        One forward pass inside `as_role(role)`, as in `read`; nothing of the vocabulary but two
        tokens is needed.
        """
        inputs = self._behind(self._head_memory(head), len(head), tails, texts)
        states = self.model.get_decoder()(**inputs).last_hidden_state
        weights = self.model.get_output_embeddings().weight
        odds = mark_odds(states, weights, self.encoder.mark_ids(role)).tolist()
        return [
            row[len(tail) : len(tail) + len(text)]
            for row, tail, text in zip(odds, tails, texts, strict=True)
        ]

    def _head_memory(self, head: Sequence[int]) -> Memory:
        memory = self._heads.find(self._adapter, head)
        if memory is None:
            cache: Any = DynamicCache()
            ids = torch.tensor([list(head)], device=self.device)
            self.model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)
            memory = tuple((layer.keys, layer.values) for layer in cache.layers)
            self._heads.keep(self._adapter, head, memory)
        return memory

    def _read_behind(
        self,
        memory: Memory,
        length: int,
        prefixes: Sequence[Sequence[int]],
        texts: Sequence[Sequence[int]],
    ) -> list[Reading]:
        """Read each text with its prefix behind the first `length` tokens of one memory."""
        inputs = self._behind(memory, length, prefixes, texts)
        width = inputs["input_ids"].shape[1]
        skip = width - logits_width(prefixes, texts)
        # A number would take a view, and a product with one copies the weights for each row.
        wanted = torch.arange(skip, width, device=self.device)
        logits = self.model(**inputs, logits_to_keep=wanted).logits
        cache = inputs["cache"]
        readings: list[Reading] = []
        for index, (prefix, text) in enumerate(zip(prefixes, texts, strict=True)):
            own = tuple(
                (layer.keys[index : index + 1], layer.values[index : index + 1])
                for layer in cache.layers
            )
            first = len(prefix) - 1 - skip
            scores = logits[index, first : first + len(text) + 1]
            readings.append(self._reading(scores, text, own, length + len(prefix)))
        return readings

    def _behind(
        self,
        memory: Memory,
        length: int,
        prefixes: Sequence[Sequence[int]],
        texts: Sequence[Sequence[int]],
    ) -> dict[str, Any]:
        """What the model is given to read prefixes and texts behind a memory, a row for each.

        Rows are filled up on the right: no token sees what comes later, so neither a mask nor
        other positions are needed for rows of different lengths.
        """
        rows = [[*prefix, *text] for prefix, text in zip(prefixes, texts, strict=True)]
        count, width = len(rows), max(map(len, rows))
        ids = [[*row, *[self.pad_id] * (width - len(row))] for row in rows]
        positions = torch.arange(length, length + width, device=self.device)
        cache: Any = DynamicCache(
            [
                (
                    keys[:, :, :length].expand(count, -1, -1, -1),
                    values[:, :, :length].expand(count, -1, -1, -1),
                )
                for keys, values in memory
            ]
        )
        return {
            "input_ids": torch.tensor(ids, device=self.device),
            "position_ids": positions.expand(count, -1),
            "cache": cache,
            "use_cache": True,
        }

    def _reading(self, logits: Tensor, text: Sequence[int], memory: Memory, start: int) -> Reading:
        logits = logits.float()
        total = logits.logsumexp(-1)
        end = logits[:, list(self.end_ids)].logsumexp(-1) - total
        actual = end.clone()
        if text:
            ids = torch.tensor(text, device=logits.device)
            actual[:-1] = logits[:-1].gather(1, ids[:, None])[:, 0] - total[:-1]
        top_logit, top = logits.max(-1)
        return Reading(
            actual=actual.tolist(),
            end=end.tolist(),
            top=top.tolist(),
            top_log=(top_logit - total).tolist(),
            memory=memory,
            start=start,
        )

    def pad(self, rows: Sequence[Sequence[int]]) -> dict[str, Tensor]:
        """Left-padded ids with their mask and positions, as the model takes them."""
        width = max(map(len, rows))
        ids = [[*[self.pad_id] * (width - len(row)), *row] for row in rows]
        mask = [[*[0] * (width - len(row)), *[1] * len(row)] for row in rows]
        attention = torch.tensor(mask, device=self.device)
        return {
            "input_ids": torch.tensor(ids, device=self.device),
            "attention_mask": attention,
            "position_ids": (attention.cumsum(-1) - 1).clamp(min=0),
        }


def logits_width(prefixes: Sequence[Sized], texts: Sequence[Sized]) -> int:
    """Positions of each row whose scores are computed where texts are read behind prefixes."""
    rows = zip(prefixes, texts, strict=True)
    longest = max(len(prefix) + len(text) for prefix, text in rows)
    return longest - min(map(len, prefixes)) + 1


def _silence() -> None:
    """Keep the libraries' progress bars and notes out of the service's output."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    logging: Any = transformers.utils.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _load_tokenizer(folder: Path) -> Any:
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ProfileError(f"cannot load the tokenizer in {folder}: {error}") from error


def _load_base(folder: Path, dtype: str) -> Any:
    try:
        return AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), local_files_only=True
        )
    except (OSError, ValueError) as error:
        raise ProfileError(f"cannot load the base model in {folder}: {error}") from error


def _device(name: str) -> torch.device:
    if name != "auto":
        return torch.device(name)
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return accelerator or torch.device("cpu")


def _end_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Tokens that end a turn, the tokenizer's own first: a filter is taught to end with it."""
    configured = model.generation_config.eos_token_id
    listed = configured if isinstance(configured, list) else [configured]
    found = [tokenizer.eos_token_id, *listed]
    ids = tuple(dict.fromkeys(token_id for token_id in found if token_id is not None))
    if not ids:
        raise ProfileError("neither tokenizer nor model says which token ends a turn")
    return ids


def _adapter_name(sha256: str) -> str:
    """Named by content: other weights never pass for these."""
    return f"sha256-{sha256}"


def _attach(
    model: Any, adapters: Mapping[Role, AdapterFiles], device: torch.device
) -> PeftModel | None:
    """Load every adapter and make sure that it is really in the model."""
    peft: PeftModel | None = None
    for adapter in {adapter.sha256: adapter for adapter in adapters.values()}.values():
        name = _adapter_name(adapter.sha256)
        try:
            if peft is None:
                peft = _inject(model, adapter, name)
            loaded = peft.load_adapter(
                adapter.path, name, torch_device=str(device), autocast_adapter_dtype=False
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise ProfileError(f"cannot use the adapter in {adapter.path}: {error}") from error
        # PEFT says nothing about these and would serve the bare base model.
        if wrong := [*loaded.missing_keys, *loaded.unexpected_keys]:
            raise ProfileError(
                f"the adapter in {adapter.path} does not fit the base model: "
                f"{len(wrong)} of its weights have no counterpart, the first is {wrong[0]}"
            )
        _check_attached(peft, name, adapter)
    if peft is not None:
        peft.eval()
    return peft


def _inject(model: Any, adapter: AdapterFiles, name: str) -> PeftModel:
    config = PeftConfig.from_pretrained(str(adapter.path))
    config.inference_mode = True
    with warnings.catch_warnings():
        # PEFT asks transformers for a property under its old name.
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing")
        return PeftModel(model, config, adapter_name=name, autocast_adapter_dtype=False)


def _check_attached(peft: PeftModel, name: str, adapter: AdapterFiles) -> None:
    layers: list[Any] = [
        module
        for module in peft.modules()
        if isinstance(module, LoraLayer) and name in module.lora_B
    ]
    if name not in peft.peft_config or not layers:
        raise ProfileError(f"the adapter in {adapter.path} changes no layer of the base model")
    if not any(layer.lora_B[name].weight.any() for layer in layers):
        raise ProfileError(f"the adapter in {adapter.path} was never trained: it changes nothing")
