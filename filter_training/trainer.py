"""LoRA training with loss on the target only (paper, section 2.2).

The frozen base and the adapter compute in bfloat16, while the optimizer keeps
float32 master copies of the adapter: on a CPU with bfloat16 units that is about twice as fast
as a float32 adapter, and no small step is lost. A question is read once for all its answers in a
batch, and the vocabulary projection runs on target positions only. On a CPU attention is computed
as plain matrix products, which use those units; the fused kernel does not for masks as in
`filter_training.packing`, and takes four times as long. A run that is killed goes on from its
last checkpoint to the same adapter.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import torch
from peft import (
    LoraConfig,
    PeftModel,
    get_peft_model,
    load_peft_weights,
    set_peft_model_state_dict,
)
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
    get_linear_schedule_with_warmup,
)

from filter_training.attention import GROUPED
from filter_training.curves import draw_curves
from filter_training.examples import Example
from filter_training.packing import Batch, Encoded, encode, pack
from filter_training.reading import read_branches
from filter_training.recipe import Recipe
from service.engine.marks import mark_odds
from service.engine.tokens import PromptEncoder
from service.errors import SettingsError
from service.profile import ModelProfile

_CHECKPOINT = "checkpoint.pt"
_BEST = "best.safetensors"
_PROGRESS = "progress.jsonl"
_NF4 = BitsAndBytesConfig(  # type: ignore[no-untyped-call]
    load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
)


@dataclass(frozen=True)
class Progress:
    """State of a run after an optimizer step or an evaluation; one line of `progress.jsonl`."""

    epoch: int
    step: int
    steps: int
    seconds: float
    training_loss: float | None = None
    validation_loss: float | None = None


def load_base(
    folder: Path, profile: ModelProfile, *, four_bit: bool = False
) -> tuple[PreTrainedModel, PromptEncoder]:
    """The base model of a profile in bfloat16, on the GPU where there is one, and its encoder.

    Args:
        folder: where the weights lie.
        profile: whose base it is.
        four_bit: keep the frozen weights in 4 bits (NF4; Dettmers et al., QLoRA, NeurIPS 2023).

    Raises:
        SettingsError: 4 bits are asked for, and there is no GPU or no bitsandbytes.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if profile.chat_template is not None:
        tokenizer.chat_template = profile.chat_template
    on_gpu = torch.cuda.is_available()
    if four_bit and not (on_gpu and find_spec("bitsandbytes")):
        raise SettingsError(
            "the recipe wants four_bit, which needs an NVIDIA GPU and `pip install bitsandbytes`; "
            "set four_bit = false in it to train without"
        )
    base = AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=torch.bfloat16,
        attn_implementation="sdpa" if on_gpu else GROUPED,
        quantization_config=_NF4 if four_bit else None,
    )
    device: Any = torch.device("cuda" if on_gpu else "cpu")
    return (base if four_bit else base.to(device)), PromptEncoder(tokenizer)


class AdapterTrainer:
    """Trains one adapter in a run folder.

    Args:
        base: the model to adapt.
        encoder: its tokens.
        recipe: how to train.
        run_dir: the folder.
        marks: teach the adapter to mark, and not to write.
        start: folder of an adapter of the same shape to go on from; None for a new one.
        report: is told of each step and evaluation.
    """

    def __init__(
        self,
        base: PreTrainedModel,
        encoder: PromptEncoder,
        recipe: Recipe,
        run_dir: Path,
        *,
        marks: bool = False,
        start: Path | None = None,
        report: Callable[[Progress], None],
    ) -> None:
        self._recipe = recipe
        self._run_dir = run_dir
        self._report = report
        self._encoder = encoder
        self._marks = marks
        torch.manual_seed(recipe.seed)
        config = LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules=list(recipe.target_modules),
            layers_to_transform=_adapted_layers(base, recipe),
            task_type="CAUSAL_LM",
        )
        if recipe.gradient_checkpointing:
            base.activation_checkpointing_enable()
            base.enable_input_require_grads()  # type: ignore[no-untyped-call]
        self._model: PeftModel = get_peft_model(base, config, autocast_adapter_dtype=False)
        if start is not None:
            _load_adapter(self._model, start)
        self._parameters = {
            name: parameter
            for name, parameter in self._model.named_parameters()
            if parameter.requires_grad
        }
        self._masters = {
            name: nn.Parameter(parameter.detach().float().clone())
            for name, parameter in self._parameters.items()
        }
        self._device = next(base.parameters()).device

    def train(self, training: Sequence[Example], validation: Sequence[Example]) -> float:
        """Run all epochs and write the best adapter to `run_dir/adapter`.

        Returns:
            The lowest validation loss: nats per target token, or what `mark_loss` says per mark.
        """
        recipe = self._recipe
        self._run_dir.mkdir(parents=True, exist_ok=True)
        encoded = self._encode(training)
        held_out = self._pack(self._encode(validation), "validation")
        epochs = [
            _steps(self._pack(encoded, n), recipe.batch_examples) for n in range(recipe.epochs)
        ]
        total = sum(len(steps) for steps in epochs)
        optimizer = torch.optim.AdamW(
            self._masters.values(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        schedule = get_linear_schedule_with_warmup(  # type: ignore[no-untyped-call]
            optimizer, round(total * recipe.warmup_ratio), total
        )
        done, best = self._resume(optimizer, schedule)
        started = time.monotonic()
        step = 0
        for epoch, steps in enumerate(epochs):
            for batches in steps:
                step += 1
                if step <= done:
                    continue
                loss = self._step(batches, optimizer)
                schedule.step()
                seconds = time.monotonic() - started
                self._log(Progress(epoch, step, total, seconds, training_loss=loss))
                # The last step of an epoch is over when it is evaluated.
                if step % recipe.checkpoint_steps == 0 and batches is not steps[-1]:
                    self._checkpoint(step, best, optimizer, schedule)
            if step <= done:
                continue
            loss = self._evaluate(held_out)
            seconds = time.monotonic() - started
            self._log(Progress(epoch, step, total, seconds, validation_loss=loss))
            if loss < best:
                best = loss
                save_file(
                    {name: master.detach() for name, master in self._masters.items()},
                    self._run_dir / _BEST,
                )
            self._checkpoint(step, best, optimizer, schedule)
        draw_curves(self._run_dir / _PROGRESS, self._run_dir / "curves.png")
        self._load_masters(load_file(self._run_dir / _BEST))
        # Where the base lies on this machine says nothing elsewhere.
        self._model.active_peft_config.base_model_name_or_path = self._recipe.profile
        self._model.save_pretrained(str(self._run_dir / "adapter"), save_embedding_layers=False)
        return best

    def _encode(self, examples: Sequence[Example]) -> list[Encoded]:
        return [
            encode(
                example,
                self._encoder,
                max_length=self._recipe.max_length,
                marks=self._marks,
            )
            for example in examples
        ]

    def _pack(self, encoded: Sequence[Encoded], purpose: object) -> list[Batch]:
        recipe = self._recipe
        return pack(
            encoded,
            row_tokens=recipe.row_tokens,
            branches=recipe.branches,
            random=Random(f"{recipe.seed}/{purpose}"),
        )

    def _step(self, batches: Sequence[Batch], optimizer: torch.optim.Optimizer) -> float:
        """One optimizer step; the mean loss per target token or mark."""
        self._model.train()
        weight = sum(len(batch.labels) for batch in batches)
        total = 0.0
        for batch in batches:
            loss = self._loss(batch)
            (loss / weight).backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        for name, parameter in self._parameters.items():
            if parameter.grad is not None:
                self._masters[name].grad = parameter.grad.float()
                parameter.grad = None
        nn.utils.clip_grad_norm_(self._masters.values(), self._recipe.max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        self._copy_masters()
        return total / weight

    def _loss(self, batch: Batch) -> torch.Tensor:
        """Summed loss of a batch over its targets or marks."""
        causal_lm: Any = self._model.get_base_model()
        recompute = self._recipe.gradient_checkpointing
        hidden = read_branches(causal_lm.model, batch, recompute=recompute)
        device = self._device
        targets = hidden[batch.rows.to(device), batch.columns.to(device)]
        labels = batch.labels.to(device)
        if self._marks:
            mark_ids = self._encoder.mark_ids(self._recipe.role)
            odds = mark_odds(targets, causal_lm.lm_head.weight, mark_ids)
            return mark_loss(odds, labels, rank_weight=self._recipe.rank_weight)
        logits = causal_lm.lm_head(targets).float()
        return nn.functional.cross_entropy(logits, labels, reduction="sum")

    @torch.no_grad()
    def _evaluate(self, batches: Sequence[Batch]) -> float:
        self._model.eval()
        total = sum(float(self._loss(batch)) for batch in batches)
        return total / sum(len(batch.labels) for batch in batches)

    def _log(self, progress: Progress) -> None:
        with (self._run_dir / _PROGRESS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(progress)) + "\n")
        self._report(progress)

    def _checkpoint(
        self,
        step: int,
        best: float,
        optimizer: torch.optim.Optimizer,
        schedule: torch.optim.lr_scheduler.LRScheduler,
    ) -> None:
        partial = self._run_dir / f"{_CHECKPOINT}.partial"
        torch.save(
            {
                "step": step,
                "best": best,
                "masters": {name: master.detach() for name, master in self._masters.items()},
                "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(),
                "rng": torch.get_rng_state(),
                "gpu_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            },
            partial,
        )
        os.replace(partial, self._run_dir / _CHECKPOINT)

    def _resume(
        self,
        optimizer: torch.optim.Optimizer,
        schedule: torch.optim.lr_scheduler.LRScheduler,
    ) -> tuple[int, float]:
        """Steps that a killed run has done and its best validation loss."""
        path = self._run_dir / _CHECKPOINT
        if not path.exists():
            return 0, float("inf")
        state = torch.load(path, weights_only=True)
        self._load_masters(state["masters"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["rng"])
        if state["gpu_rng"]:
            torch.cuda.set_rng_state_all(state["gpu_rng"])
        return state["step"], state["best"]

    @torch.no_grad()
    def _load_masters(self, values: dict[str, torch.Tensor]) -> None:
        for name, master in self._masters.items():
            master.copy_(values[name])
        self._copy_masters()

    @torch.no_grad()
    def _copy_masters(self) -> None:
        for name, parameter in self._parameters.items():
            parameter.copy_(self._masters[name])


def mark_loss(odds: torch.Tensor, wanted: torch.Tensor, *, rank_weight: float) -> torch.Tensor:
    """Summed loss of the marks of one question's answers.

    Cross-entropy, and, weighted, how far each two marks that shall differ are from standing in
    that order, in tenths of the way from no to yes: the mean of log(1 + exp(-difference))
    (Burges et al., RankNet, ICML 2005).

    Args:
        odds: log-odds of yes, float32 [T].
        wanted: how likely yes shall be, float32 [T].
        rank_weight: weight of the order.
    """
    fit = nn.functional.binary_cross_entropy_with_logits(odds, wanted, reduction="sum")
    if not rank_weight:
        return fit
    higher, lower = (wanted[:, None] > wanted[None, :]).nonzero(as_tuple=True)
    if not len(higher):
        return fit
    marks = 10 * odds.sigmoid()
    order = nn.functional.softplus(marks[lower] - marks[higher]).mean()
    return fit + rank_weight * len(wanted) * order


def _load_adapter(model: PeftModel, folder: Path) -> None:
    try:
        weights = load_peft_weights(str(folder), device="cpu")
        loaded: Any = set_peft_model_state_dict(model, weights)
    except (OSError, ValueError, RuntimeError) as error:
        raise SettingsError(f"cannot go on from the adapter in {folder}: {error}") from error
    missing = [name for name in loaded.missing_keys if "lora_" in name]
    if missing or loaded.unexpected_keys:
        raise SettingsError(
            f"cannot go on from the adapter in {folder}: it has other ranks, projections or layers"
        )


def _adapted_layers(base: PreTrainedModel, recipe: Recipe) -> list[int] | None:
    if not recipe.frozen_layers:
        return None
    count: int = base.config.get_text_config().num_hidden_layers
    return list(range(recipe.frozen_layers, count))


def _steps(batches: Sequence[Batch], batch_examples: int) -> list[list[Batch]]:
    """Batches grouped into optimizer steps of about `batch_examples` examples."""
    steps: list[list[Batch]] = [[]]
    held = 0
    for batch in batches:
        if held >= batch_examples:
            steps.append([])
            held = 0
        steps[-1].append(batch)
        held += batch.examples
    return steps
