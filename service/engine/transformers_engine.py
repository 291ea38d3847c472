"""The engine that runs a profile's model in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import torch

from service.engine.base import (
    REWRITE_TOKENS,
    CopyCompletion,
    CopyRequest,
    CutsBy,
    FreeCompletion,
    GradeCompletion,
    GradeRequest,
    GradesBy,
    Role,
)
from service.engine.copying import copy_texts
from service.engine.grading import ScoredCompletion, complete, complete_and_score
from service.engine.language_model import LanguageModel
from service.engine.marking import mark_texts
from service.engine.rating import rate
from service.engine.windows import CopiedText
from service.engine.worker import Worker
from service.errors import PromptTooLongError
from service.model_store import ModelFiles
from service.profile import ModelProfile
from service.prompts import Prompt

_Completion = TypeVar("_Completion", ScoredCompletion, FreeCompletion)

_Reader = Callable[[LanguageModel, Sequence[CopyRequest]], list[CopiedText | PromptTooLongError]]
_Grade = Callable[
    [LanguageModel, Sequence[GradeRequest]], list[ScoredCompletion | PromptTooLongError]
]
_READERS: Mapping[CutsBy, _Reader] = {"copy": copy_texts, "mark": mark_texts}

_NOISE = 0.01
"""Log-probabilities that differ by less are equal but for the order of sums."""


class TransformersEngine:
    """One base model in memory, the profile's adapters on top; see `Engine`.

    Args:
        profile: how the model is run.
        files: where its weights lie.
        device: `auto`, `cpu` or a torch device.
        batch_size: most prompts in one model call.

    Raises:
        ProfileError: the weights cannot be used as the profile says.
    """

    def __init__(
        self, profile: ModelProfile, files: ModelFiles, *, device: str = "auto", batch_size: int = 8
    ) -> None:
        self._profile = profile
        model = LanguageModel(profile, files, device)
        grade = (
            rate if profile.grade_decoding == "mark" else partial(_write, profile.max_grade_tokens)
        )
        self._encoder = model.encoder
        self._fingerprints = {role: model.fingerprint(role) for role in Role}
        self._worker = Worker(
            {
                "grade": partial(_grade, model, grade),
                "copy": partial(_copy, model, _READERS[profile.filter_decoding]),
                "filter_is_base": partial(_filter_is_base, model),
                **{("rewrite", role): partial(_rewrite, model, role) for role in Role},
            },
            batch_size,
        )
        model.before_each_pass(self._worker.continue_batch)

    @property
    def cuts_by(self) -> CutsBy:
        """What the profile's filter adapter was taught."""
        return self._profile.filter_decoding

    @property
    def grades_by(self) -> GradesBy:
        """What the profile's grader was taught."""
        return self._profile.grade_decoding

    @property
    def justifies(self) -> bool:
        """True if the profile's grader writes prose before its score."""
        return self._profile.justification == "prose"

    @property
    def max_grade_tokens(self) -> int:
        """Most new tokens of a grading completion."""
        return self._profile.max_grade_tokens

    def fingerprint(self, role: Role) -> str:
        """Hash over base, adapter, tokenizer and dtype."""
        return self._fingerprints[role]

    def render(self, prompt: Prompt) -> str:
        """The exact text that the model reads."""
        return self._encoder.render(prompt)

    def grade(self, requests: Sequence[GradeRequest]) -> list[GradeCompletion]:
        """Greedy grading completions with the odds of each choice; see `Engine`."""
        return self._worker.run("grade", requests)

    def copy(self, requests: Sequence[CopyRequest]) -> list[CopyCompletion]:
        """What the filter adapter cuts from each text; see `Engine`."""
        return self._worker.run("copy", requests)

    def rewrite(self, prompts: Sequence[Prompt], *, role: Role) -> list[FreeCompletion]:
        """Greedy text with the role's adapter; see `Engine`."""
        return self._worker.run(("rewrite", role), prompts)

    def filter_is_base(self, prompt: Prompt) -> bool:
        """True if the filter adapter changes nothing of what comes behind `prompt`."""
        [same] = self._worker.run("filter_is_base", [prompt])
        return bool(same)

    def close(self) -> None:
        """Finish the running batch and release the model."""
        self._worker.close()


def _grade(
    model: LanguageModel, grade: _Grade, requests: Sequence[GradeRequest]
) -> list[GradeCompletion | PromptTooLongError]:
    began = time.perf_counter()
    with model.as_role(Role.GRADE):
        graded = grade(model, requests)
    latency_ms = _milliseconds_since(began)
    return [
        scored
        if isinstance(scored, PromptTooLongError)
        else GradeCompletion(
            text=scored.text,
            finish_reason=scored.finish_reason,
            choice_probabilities=scored.choice_probabilities,
            forced_choice=scored.forced_choice,
            latency_ms=latency_ms,
        )
        for scored in graded
    ]


def _write(
    max_new_tokens: int, model: LanguageModel, requests: Sequence[GradeRequest]
) -> list[ScoredCompletion | PromptTooLongError]:
    prompts = [request.prompt for request in requests]
    rows, too_long = _encode(model, prompts, max_new_tokens)
    scored = complete_and_score(
        model, list(rows.values()), [requests[index].choices for index in rows], max_new_tokens
    )
    return _in_order(dict(zip(rows, scored, strict=True)), too_long)


def _rewrite(
    model: LanguageModel, role: Role, prompts: Sequence[Prompt]
) -> list[FreeCompletion | PromptTooLongError]:
    began = time.perf_counter()
    rows, too_long = _encode(model, prompts, REWRITE_TOKENS)
    with model.as_role(role):
        written = complete(model, list(rows.values()), REWRITE_TOKENS)
    latency_ms = _milliseconds_since(began)
    completions = {
        index: FreeCompletion(completion.text, completion.finish_reason, latency_ms)
        for index, completion in zip(rows, written, strict=True)
    }
    return _in_order(completions, too_long)


def _copy(
    model: LanguageModel, read: _Reader, requests: Sequence[CopyRequest]
) -> list[CopyCompletion | PromptTooLongError]:
    began = time.perf_counter()
    with model.as_role(Role.FILTER):
        copied = read(model, requests)
    latency_ms = _milliseconds_since(began)
    return [
        text
        if isinstance(text, PromptTooLongError)
        else CopyCompletion(text.cuts, text.passes, latency_ms)
        for text in copied
    ]


def _filter_is_base(model: LanguageModel, prompts: Sequence[Prompt]) -> list[bool]:
    same = []
    for prompt in prompts:
        row = model.encoder.prompt_ids(prompt)
        with model.as_role(Role.FILTER):
            filtering = model.next_token(row)
        with model.as_role(None):
            bare = model.next_token(row)
        same.append(torch.allclose(filtering, bare, rtol=0, atol=_NOISE))
    return same


def _encode(
    model: LanguageModel, prompts: Sequence[Prompt], new_tokens: int
) -> tuple[dict[int, list[int]], dict[int, PromptTooLongError]]:
    """Ids of the prompts that leave room for `new_tokens`, and errors for the others."""
    rows: dict[int, list[int]] = {}
    too_long: dict[int, PromptTooLongError] = {}
    for index, prompt in enumerate(prompts):
        row = model.encoder.prompt_ids(prompt)
        needed = len(row) + new_tokens
        if needed <= model.context:
            rows[index] = row
        else:
            too_long[index] = PromptTooLongError(
                "the prompt with its completion", needed, model.context
            )
    return rows, too_long


def _in_order(
    completions: Mapping[int, _Completion], too_long: Mapping[int, PromptTooLongError]
) -> list[_Completion | PromptTooLongError]:
    both: dict[int, _Completion | PromptTooLongError] = {**completions, **too_long}
    return [both[index] for index in sorted(both)]


def _milliseconds_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
