"""Greedy completions, and the odds of every valid score behind their `Answer:` cue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, StoppingCriteria, StoppingCriteriaList

from service.engine.language_model import LanguageModel
from service.engine.masks import attention_mask
from service.judgement import FinishReason
from service.prompts import ANSWER_CUE, answer_line_complete, cue_end


@dataclass(frozen=True)
class Completion:
    """Greedy text behind a prompt, without the token that ends the turn."""

    text: str
    finish_reason: FinishReason


@dataclass(frozen=True)
class ScoredCompletion:
    """A completion with the odds of each choice; the attributes of `GradeCompletion`."""

    text: str
    finish_reason: FinishReason
    choice_probabilities: Mapping[str, float]
    forced_choice: str | None


@dataclass(frozen=True)
class _Written:
    """A completion with its tokens, and its prompt's."""

    prompt: Sequence[int]
    tokens: Sequence[int]
    text: str
    finish_reason: FinishReason


@dataclass(frozen=True)
class _Branches:
    """The choices of one row: each continues the first `kept` of its cached tokens on its own."""

    kept: int
    last: int
    choices: list[list[int]]
    forced: bool


def complete(
    model: LanguageModel, prompts: Sequence[Sequence[int]], max_new_tokens: int
) -> list[Completion]:
    """Greedy completions that end with the turn or at `max_new_tokens`."""
    if not prompts:
        return []
    written, _ = _generate(model, prompts, max_new_tokens, StoppingCriteriaList())
    return [Completion(row.text, row.finish_reason) for row in written]


def complete_and_score(
    model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    choices: Sequence[Sequence[str]],
    max_new_tokens: int,
) -> list[ScoredCompletion]:
    """Greedy completions that also end with their `Answer:` line, and the odds of each choice."""
    if not prompts:
        return []
    width = max(map(len, prompts))
    stop = StoppingCriteriaList([_AnswerLine(model, width)])
    written, cache = _generate(model, prompts, max_new_tokens, stop)
    cached = cache.get_seq_length() - width
    branches = [
        _branch(model, row, offered, cached) for row, offered in zip(written, choices, strict=True)
    ]
    scored: list[ScoredCompletion] = []
    odds = _odds(model, branches, width, [len(row.prompt) for row in written], cache)
    for row, offered, branch, logs in zip(written, choices, branches, odds, strict=True):
        probabilities = dict(zip(offered, _normalise(logs), strict=True))
        likeliest = max(offered, key=probabilities.__getitem__)
        forced = likeliest if branch.forced else None
        scored.append(ScoredCompletion(row.text, row.finish_reason, probabilities, forced))
    return scored


class _AnswerLine(StoppingCriteria):
    """Ends each row of a batch where its own `Answer:` line is complete."""

    def __init__(self, model: LanguageModel, width: int) -> None:
        self._model = model
        self._width = width

    def __call__(self, input_ids: Tensor, scores: Any, **_: Any) -> Any:  # noqa: ARG002
        rows = input_ids[:, self._width :].tolist()
        done = [answer_line_complete(self._model.text(row)) for row in rows]
        return torch.tensor(done, device=input_ids.device)


def _generate(
    model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    stop: StoppingCriteriaList,
) -> tuple[list[_Written], Any]:
    batch = model.pad(prompts)
    output = model.model.generate(
        input_ids=batch["input_ids"],
        attention_mask=batch["attention_mask"],
        cache=DynamicCache(),
        generation_config=model.greedy(max_new_tokens=max_new_tokens, return_dict_in_generate=True),
        stopping_criteria=stop,
    )
    written: list[_Written] = []
    rows = output.sequences[:, batch["input_ids"].shape[1] :].tolist()
    for prompt, row in zip(prompts, rows, strict=True):
        # A row that ends before the others is filled up with the token that ends a turn.
        ends = [place for place, token in enumerate(row) if token in model.end_ids]
        tokens = row[: ends[0]] if ends else row
        text = model.text(tokens)
        ended = (
            bool(ends) or len(row) < max_new_tokens or (bool(stop) and answer_line_complete(text))
        )
        reason = FinishReason.STOP if ended else FinishReason.LENGTH
        written.append(_Written(prompt, tokens, text, reason))
    return written, output.cache


def _branch(model: LanguageModel, row: _Written, choices: Sequence[str], cached: int) -> _Branches:
    """How each choice follows what was written, from the last cached token before the value."""
    cue = cue_end(row.text)
    if cue is None:
        shown = row.text + ("\n" if row.text else "") + f"{ANSWER_CUE} "
    else:
        shown = row.text[:cue]
        if shown == row.text and not shown[-1].isspace():
            shown += " "
    kept, before = _prefix(model, row.tokens[:cached], shown)
    last = row.tokens[kept - 1] if kept else row.prompt[-1]
    continued = [
        model.encoder.plain_ids(shown[len(before) :] + choice, continues=True) for choice in choices
    ]
    return _Branches(kept, last, continued, forced=cue is None)


def _prefix(model: LanguageModel, tokens: Sequence[int], shown: str) -> tuple[int, str]:
    """The most tokens whose text `shown` begins with, and that text."""
    for count in range(len(tokens), 0, -1):
        text = model.text(tokens[:count])
        if shown.startswith(text):
            return count, text
    return 0, ""


def _odds(
    model: LanguageModel,
    branches: Sequence[_Branches],
    width: int,
    prompt_lengths: Sequence[int],
    cache: Any,
) -> list[list[float]]:
    """Log-probability of every choice with what may end it, in one pass for all rows.

    A row is its last kept token, read again, and behind it the choices side by side: each sees
    what was kept and itself, and its positions begin where the kept text ends.
    """
    queries = 1 + max(sum(map(len, branch.choices)) for branch in branches)
    columns = cache.get_seq_length()
    ids = torch.full((len(branches), queries), model.pad_id)
    positions = torch.zeros((len(branches), queries), dtype=torch.long)
    sees = torch.zeros((len(branches), 1, queries, columns + queries), dtype=torch.bool)
    sees[:, 0, :, columns:] = torch.eye(queries, dtype=torch.bool)
    # Prompts are padded on the left.
    read = torch.arange(columns) + torch.tensor(prompt_lengths)[:, None] - width
    for row, (branch, prompt_length) in enumerate(zip(branches, prompt_lengths, strict=True)):
        end = prompt_length + branch.kept
        sees[row, 0, :, width - prompt_length : width + branch.kept - 1] = True
        sees[row, 0, :, columns] = True
        ids[row, 0] = branch.last
        positions[row, 0] = end - 1
        at = 1
        for choice in branch.choices:
            stop = at + len(choice)
            ids[row, at:stop] = torch.tensor(choice)
            positions[row, at:stop] = torch.arange(end, end + len(choice))
            own = torch.ones((len(choice), len(choice)), dtype=torch.bool).tril()
            sees[row, 0, at:stop, columns + at : columns + stop] = own
            at = stop
    logits = model.model(
        ids.to(model.device),
        attention_mask=attention_mask(
            model.model, sees, positions, torch.cat([read, positions], 1)
        ),
        position_ids=positions.to(model.device),
        cache=cache,
        use_cache=True,
    ).logits
    return [
        _row_odds(model, branch, logits[row].float().log_softmax(-1).cpu())
        for row, branch in enumerate(branches)
    ]


def _row_odds(model: LanguageModel, branch: _Branches, logs: Tensor) -> list[float]:
    odds: list[float] = []
    at = 1
    for choice in branch.choices:
        places = [0, *range(at, at + len(choice))]
        total = sum(float(logs[place, token]) for place, token in zip(places, choice, strict=False))
        # "1" begins "10": a choice is over only where its line or the turn is.
        total += float(logs[places[-1], model.terminators].logsumexp(-1))
        odds.append(total)
        at += len(choice)
    return odds


def _normalise(logs: Sequence[float]) -> list[float]:
    highest = max(logs)
    weights = [math.exp(log - highest) for log in logs]
    return [weight / sum(weights) for weight in weights]
