"""LoRA training with loss on the target only (paper, section 2.2).

The frozen base and the adapter compute in bfloat16, while the optimizer keeps
float32 master copies of the adapter: on a CPU with bfloat16 units that is about twice as fast
as a float32 adapter, and no small step is lost. The vocabulary projection runs on target
positions only. On a CPU attention is computed as plain matrix products, which use those units;
the fused kernel does not for masks as in `filter_training.packing`, and takes four times as
long. A run that is killed goes on from its last checkpoint to the same adapter.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    get_linear_schedule_with_warmup,
)

from filter_training.examples import Example
from filter_training.packing import Encoded, Row, encode, pack
from filter_training.recipe import Recipe
from service.engine.tokens import PromptEncoder
from service.profile import ModelProfile

_CHECKPOINT = "checkpoint.pt"
_BEST = "best.safetensors"


@dataclass(frozen=True)
class Progress:
    """State of a run after an optimizer step or an evaluation; one line of `progress.jsonl`."""

    epoch: int
    step: int
    steps: int
    seconds: float
    training_loss: float | None = None
    validation_loss: float | None = None


def load_base(folder: Path, profile: ModelProfile) -> tuple[PreTrainedModel, PromptEncoder]:
    """The base model of a profile in bfloat16, on the GPU where there is one, and its encoder."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if profile.chat_template is not None:
        tokenizer.chat_template = profile.chat_template
    on_gpu = torch.cuda.is_available()
    base = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.bfloat16, attn_implementation="sdpa" if on_gpu else "eager"
    )
    device: Any = torch.device("cuda" if on_gpu else "cpu")
    return base.to(device), PromptEncoder(tokenizer)


class AdapterTrainer:
    """Trains one adapter in a run folder."""

    def __init__(
        self,
        base: PreTrainedModel,
        encoder: PromptEncoder,
        recipe: Recipe,
        run_dir: Path,
        *,
        report: Callable[[Progress], None],
    ) -> None:
        self._recipe = recipe
        self._run_dir = run_dir
        self._report = report
        self._encoder = encoder
        torch.manual_seed(recipe.seed)
        config = LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules=list(recipe.target_modules),
            task_type="CAUSAL_LM",
        )
        if recipe.gradient_checkpointing:
            base.activation_checkpointing_enable()
            base.enable_input_require_grads()  # type: ignore[no-untyped-call]
        self._model: PeftModel = get_peft_model(base, config, autocast_adapter_dtype=False)
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
            The lowest validation loss, in nats per target token.
        """
        recipe = self._recipe
        self._run_dir.mkdir(parents=True, exist_ok=True)
        encoded = self._encode(training)
        held_out = pack(
            self._encode(validation), row_tokens=recipe.row_tokens, random=Random(recipe.seed)
        )
        epochs = [
            _steps(
                pack(encoded, row_tokens=recipe.row_tokens, random=Random(f"{recipe.seed}/{n}")),
                recipe.batch_examples,
            )
            for n in range(recipe.epochs)
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
            for rows in steps:
                step += 1
                if step <= done:
                    continue
                loss = self._step(rows, optimizer)
                schedule.step()
                seconds = time.monotonic() - started
                self._log(Progress(epoch, step, total, seconds, training_loss=loss))
                if step % recipe.checkpoint_steps == 0:
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
        self._load_masters(load_file(self._run_dir / _BEST))
        # Where the base lies on this machine says nothing elsewhere.
        self._model.active_peft_config.base_model_name_or_path = self._recipe.profile
        self._model.save_pretrained(str(self._run_dir / "adapter"), save_embedding_layers=False)
        return best

    def _encode(self, examples: Sequence[Example]) -> list[Encoded]:
        return [
            encode(example, self._encoder, max_length=self._recipe.max_length)
            for example in examples
        ]

    def _step(self, rows: Sequence[Row], optimizer: torch.optim.Optimizer) -> float:
        """One optimizer step; the mean loss per target token."""
        self._model.train()
        targets = sum(len(row.labels) for row in rows)
        total = 0.0
        for row in rows:
            loss = self._loss(row)
            (loss / targets).backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        for name, parameter in self._parameters.items():
            if parameter.grad is not None:
                self._masters[name].grad = parameter.grad.float()
                parameter.grad = None
        nn.utils.clip_grad_norm_(self._masters.values(), self._recipe.max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        self._copy_masters()
        return total / targets

    def _loss(self, row: Row) -> torch.Tensor:
        """Summed cross-entropy over the row's target tokens."""
        causal_lm: Any = self._model.get_base_model()
        mask = torch.zeros(row.mask.shape, dtype=causal_lm.dtype)
        mask.masked_fill_(~row.mask, torch.finfo(causal_lm.dtype).min)
        hidden = causal_lm.model(
            input_ids=row.input_ids.to(self._device),
            position_ids=row.position_ids.to(self._device),
            attention_mask=mask.to(self._device),
            use_cache=False,
        ).last_hidden_state
        logits = causal_lm.lm_head(hidden[0, row.predict.to(self._device)]).float()
        return nn.functional.cross_entropy(logits, row.labels.to(self._device), reduction="sum")

    @torch.no_grad()
    def _evaluate(self, rows: Sequence[Row]) -> float:
        self._model.eval()
        total = sum(float(self._loss(row)) for row in rows)
        return total / sum(len(row.labels) for row in rows)

    def _log(self, progress: Progress) -> None:
        with (self._run_dir / "progress.jsonl").open("a", encoding="utf-8") as file:
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


def _steps(rows: Sequence[Row], batch_examples: int) -> list[list[Row]]:
    """Rows grouped into optimizer steps of about `batch_examples` examples."""
    steps: list[list[Row]] = [[]]
    held = 0
    for row in rows:
        if held >= batch_examples:
            steps.append([])
            held = 0
        steps[-1].append(row)
        held += row.examples
    return steps
