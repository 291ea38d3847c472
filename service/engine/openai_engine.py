"""The engine that asks an OpenAI-compatible server: vLLM, SGLang, llama.cpp and their like."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from service.engine.base import (
    REWRITE_TOKENS,
    CopyCompletion,
    CopyRequest,
    FreeCompletion,
    GradeCompletion,
    GradeRequest,
    GradesBy,
    Role,
)
from service.engine.completion_server import (
    CompletionServer,
    RemoteCompletion,
    RequestRefusedError,
)
from service.engine.remote_choices import choice_odds
from service.engine.remote_prompts import ChatPrompts, RemotePrompt, RemotePrompts, TokenPrompts
from service.engine.tokens import PromptEncoder
from service.errors import EngineError, MissingWeightsError, PromptTooLongError, SettingsError
from service.judgement import FinishReason
from service.model_store import locate_adapters, locate_base
from service.patience import wait_for
from service.profile import FolderBase, HubBase, ModelProfile
from service.prompts import ANSWER_CUE, Prompt, answer_line_complete, cue_end
from service.settings import Settings

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_CUE_TOKENS = 16
_ODDS = {"logprobs": 20, "return_tokens_as_token_ids": True}
"""Asks for as many next tokens as vLLM gives unless told otherwise, named by their ids."""
_NOISE = 0.5
"""The most that one model's log-probabilities differ by between two batches in bfloat16."""

_ItemT = TypeVar("_ItemT")
_ResultT = TypeVar("_ResultT")


@dataclass(frozen=True)
class RemoteModel:
    """What a server runs for a role: the name it lists, and what we know of the weights."""

    name: str
    weights: str


class OpenAIEngine:
    """An `Engine` over a server. It cannot copy: filter with free decoding.

    The server must list the model of each role. Whether that model is what its name says shows
    only in what it does, so the canary must still be run.

    Args:
        settings: where the server is and how prompts reach it.
        tokenizer: the tokenizer of the served base, with the chat template in use.
        models: what the server runs for each role.
        base: name of the bare base, where the server does not say what the filter is based on.
        max_grade_tokens: most new tokens of a grading completion.
        justifies: True if the grader writes a justification.
        retry_wait: seconds before a busy server is asked again.

    Raises:
        EngineError: the server cannot be reached, lacks a model or takes no token ids.
        SettingsError: URL or key cannot be used.
    """

    cuts_by = None
    grades_by: GradesBy = "write"

    def __init__(
        self,
        settings: Settings,
        tokenizer: PreTrainedTokenizerBase,
        models: Mapping[Role, RemoteModel],
        *,
        base: str,
        max_grade_tokens: int,
        justifies: bool,
        retry_wait: float = 0.5,
    ) -> None:
        self.justifies = justifies
        self.max_grade_tokens = max_grade_tokens
        self._models = models
        self._encoder = PromptEncoder(tokenizer)
        self._mode = settings.engine_prompts
        self._prompts: RemotePrompts = (
            TokenPrompts(self._encoder) if self._mode == "tokens" else ChatPrompts(self._encoder)
        )
        self._server = CompletionServer(
            settings.engine_url,
            settings.engine_api_key,
            timeout=settings.engine_timeout,
            retry_wait=retry_wait,
        )
        self._threads = ThreadPoolExecutor(settings.batch_size, thread_name_prefix="engine")
        try:
            self._context, self._base = self._check_models(base)
            self._tells_odds = self._mode == "tokens" and self._check_token_prompts()
        except BaseException:
            self.close()
            raise

    def fingerprint(self, role: Role) -> str:
        """Hash over what is known of the served model; the server's dtype is not, so `remote`."""
        model = self._models[role]
        tokenizer = self._encoder.tokenizer
        vocabulary = tokenizer.backend_tokenizer.to_str()
        parts = (model.weights, model.name, vocabulary, str(tokenizer.chat_template), self._mode)
        hashed = hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode())
        return f"remote-{hashed.hexdigest()}"

    def render(self, prompt: Prompt) -> str:
        """The exact text that the model reads: the prompt inside the chat template."""
        return self._prompts.write(prompt).text

    def grade(self, requests: Sequence[GradeRequest]) -> list[GradeCompletion]:
        """Greedy grading completions, in the order of the requests.

        Raises:
            PromptTooLongError: a prompt and its completion do not fit the context.
            EngineError: the server failed.
        """
        prompts = self._write([request.prompt for request in requests], self.max_grade_tokens)
        started = time.perf_counter()
        graded = self._for_all(
            lambda item: self._grade(*item), list(zip(requests, prompts, strict=True))
        )
        latency_ms = (time.perf_counter() - started) * 1000
        return [
            GradeCompletion(text, finish_reason, odds, forced, latency_ms)
            for text, finish_reason, odds, forced in graded
        ]

    def copy(self, requests: Sequence[CopyRequest]) -> list[CopyCompletion]:
        """Not possible: a server does not say what it expects at every place of a text.

        Raises:
            EngineError: always.
        """
        raise EngineError(
            f"{self._server.address} cannot filter {len(requests)} answer(s) by copying; "
            "decode them freely"
        )

    def rewrite(self, prompts: Sequence[Prompt], *, role: Role) -> list[FreeCompletion]:
        """Greedy text of the role's model; same errors as `grade`."""
        name = self._models[role].name
        written = self._write(prompts, REWRITE_TOKENS)
        started = time.perf_counter()
        completions = self._for_all(
            lambda prompt: self._complete(name, prompt, REWRITE_TOKENS), written
        )
        latency_ms = (time.perf_counter() - started) * 1000
        return [FreeCompletion(each.text, each.finish_reason, latency_ms) for each in completions]

    def filter_is_base(self, prompt: Prompt) -> bool:
        """True if filter and base expect, or else write, the same behind `prompt`."""
        [written] = self._write([prompt], REWRITE_TOKENS)
        names = (self._models[Role.FILTER].name, self._base)
        if self._tells_odds:
            ids = written.body["prompt"]
            filtering, bare = (
                self._next_token(name, ids, _ODDS).first_token or {} for name in names
            )
            return _alike(filtering, bare)
        texts = {self._complete(name, written, REWRITE_TOKENS).text for name in names}
        return len(texts) == 1

    def close(self) -> None:
        """Drop what was not sent yet and close the connections."""
        self._threads.shutdown(cancel_futures=True)
        self._server.close()

    def _check_models(self, base: str) -> tuple[int | None, str]:
        """The smallest context that is known of, and the name of the bare base."""
        served = {model.name: model for model in self._server.models()}
        for role, model in self._models.items():
            if model.name not in served:
                raise EngineError(
                    f"{self._server.address} does not serve {model.name!r}, the model for "
                    f"{role}; it serves: {', '.join(sorted(served)) or 'nothing'}. "
                    f"Serve it under that name or set STEADYEVAL_ENGINE_{role.upper()}_MODEL"
                )
        base = served[self._models[Role.FILTER].name].parent or base
        if base not in served:
            raise EngineError(
                f"{self._server.address} does not serve {base!r}, the base model that the filter "
                f"is compared with; it serves: {', '.join(sorted(served))}"
            )
        contexts = [served[model.name].context for model in self._models.values()]
        return min((context for context in contexts if context), default=None), base

    def _check_token_prompts(self) -> bool:
        """Make sure that the server reads our ids; True if it tells the odds of tokens by id."""
        grader = self._models[Role.GRADE].name
        ids = [*self._encoder.before_ids, *self._encoder.after_ids]
        try:
            reply = self._next_token(grader, ids, {})
        except RequestRefusedError as error:
            raise EngineError(
                f"{self._server.address} takes no token ids; set STEADYEVAL_ENGINE_PROMPTS=chat "
                f"({error})"
            ) from error
        if reply.prompt_tokens not in (None, len(ids)):
            raise EngineError(
                f"{self._server.address} was sent {len(ids)} token ids but read "
                f"{reply.prompt_tokens}; set STEADYEVAL_ENGINE_PROMPTS=chat"
            )
        try:
            return self._next_token(grader, ids, _ODDS).first_token is not None
        except RequestRefusedError:
            return False

    def _write(self, prompts: Sequence[Prompt], new_tokens: int) -> list[RemotePrompt]:
        written = [self._prompts.write(prompt) for prompt in prompts]
        for prompt in written:
            needed = prompt.tokens + new_tokens + _CUE_TOKENS
            if self._context is not None and needed > self._context:
                raise PromptTooLongError("the prompt with its completion", needed, self._context)
        return written

    def _for_all(
        self, call: Callable[[_ItemT], _ResultT], items: Sequence[_ItemT]
    ) -> list[_ResultT]:
        asked = [self._threads.submit(call, item) for item in items]
        try:
            return [wait_for(reply) for reply in asked]
        finally:
            for reply in asked:
                reply.cancel()

    def _complete(self, name: str, prompt: RemotePrompt, max_tokens: int) -> RemoteCompletion:
        completion = self._server.complete(
            prompt.path,
            {**prompt.body, "model": name, "max_tokens": max_tokens, "temperature": 0},
        )
        return replace(completion, text=prompt.restore(completion.text))

    def _grade(
        self, request: GradeRequest, prompt: RemotePrompt
    ) -> tuple[str, FinishReason, Mapping[str, float] | None, str | None]:
        grader = self._models[Role.GRADE].name
        completion = self._complete(grader, prompt, self.max_grade_tokens)
        text = _through_answer_line(completion.text)
        finish_reason = (
            FinishReason.STOP if answer_line_complete(text) else completion.finish_reason
        )
        if not self._tells_odds:
            return text, finish_reason, None, None
        value_at = cue_end(text)
        stem = _with_cue(text) if value_at is None else text[:value_at]
        odds = self._odds(prompt.body["prompt"], stem, request.choices)
        forced = max(odds, key=odds.__getitem__) if odds and value_at is None else None
        return text, finish_reason, odds, forced

    def _odds(
        self, prompt_ids: Sequence[int], stem: str, choices: Sequence[str]
    ) -> Mapping[str, float] | None:
        """Odds of what may stand on the `Answer:` line behind `stem`."""
        plain_ids = self._encoder.plain_ids
        return choice_odds(
            {
                choice: [*prompt_ids, *plain_ids(f"{stem}{choice}\n", continues=True)]
                for choice in choices
            },
            [self._encoder.tokenizer.eos_token_id],
            lambda ids: self._next_token(self._models[Role.GRADE].name, ids, _ODDS).first_token,
        )

    def _next_token(
        self, name: str, ids: Sequence[int], extra: Mapping[str, object]
    ) -> RemoteCompletion:
        return self._server.complete(
            "completions",
            {"prompt": list(ids), "model": name, "max_tokens": 1, "temperature": 0, **extra},
        )


def open_openai_engine(settings: Settings, profile: ModelProfile) -> OpenAIEngine:
    """The engine for `profile` on the server that the settings name.

    Only the tokenizer of the base is needed here, and the adapters' hashes where they are here.

    Raises:
        SettingsError: no model name is set for an adapter that is not here.
        MissingWeightsError: the tokenizer is not here; the text says what to run.
        EngineError: the server cannot be used.
    """
    for role, named in _named(settings).items():
        if profile.marks(role) and named is None:
            raise SettingsError(
                f"the {role} adapter of profile {profile.name} was taught to mark, which no "
                "server can be asked; set STEADYEVAL_ENGINE=transformers, or "
                f"STEADYEVAL_ENGINE_{role.upper()}_MODEL to a model on the server that writes"
            )
    try:
        hashes = {role: files.sha256 for role, files in locate_adapters(profile).items()}
    except MissingWeightsError:
        hashes = {}
    models = {role: _remote_model(settings, profile, role, hashes.get(role)) for role in Role}
    grader_is_base = Role.GRADE not in profile.adapters
    return OpenAIEngine(
        settings,
        _load_tokenizer(settings, profile),
        models,
        base=models[Role.GRADE].name if grader_is_base else str(profile.base),
        max_grade_tokens=profile.max_grade_tokens,
        justifies=profile.justification == "prose",
    )


def _remote_model(
    settings: Settings, profile: ModelProfile, role: Role, adapter: str | None
) -> RemoteModel:
    """A role's model is served under the name that is set, else adapter and content, else base."""
    named = _named(settings)[role]
    base = str(profile.base)
    if adapter is not None:
        name = named or f"{profile.name}-{role}-{adapter[:12]}"
        return RemoteModel(name, f"{base} + {adapter}")
    if named is None and (role in profile.adapters or role is Role.FILTER):
        raise SettingsError(
            f"the {role} adapter of profile {profile.name} is not here to be named by its "
            f"content; set STEADYEVAL_ENGINE_{role.upper()}_MODEL to the name it is served under"
        )
    return RemoteModel(named or base, base)


def _named(settings: Settings) -> Mapping[Role, str | None]:
    """Under which names the settings say that the roles' models are served."""
    return {
        Role.FILTER: settings.engine_filter_model,
        Role.GRADE: settings.engine_grade_model,
    }


def _load_tokenizer(settings: Settings, profile: ModelProfile) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    name, revision = _tokenizer_source(settings, profile)
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(name, revision=revision)
    except (OSError, ValueError) as error:
        raise MissingWeightsError(
            f"cannot load the tokenizer of {profile.base}, which is needed here even where a "
            f"server runs the model; run `steadyeval models fetch {profile.name}` ({error})"
        ) from error
    if profile.chat_template is not None:
        tokenizer.chat_template = profile.chat_template
    return tokenizer


def _tokenizer_source(settings: Settings, profile: ModelProfile) -> tuple[str, str]:
    """Folder or hub id, and the revision there; weights need not be here."""
    if isinstance(profile.base, FolderBase):
        return str(profile.base.path), "main"
    try:
        return str(locate_base(profile, settings).path), "main"
    except MissingWeightsError:
        if isinstance(profile.base, HubBase):
            return profile.base.repo, profile.base.revision
        raise


def _alike(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """True if the log-probabilities of the tokens that both name are the same but for noise."""
    shared = one.keys() & other.keys()
    return bool(shared) and all(abs(one[token] - other[token]) <= _NOISE for token in shared)


def _through_answer_line(text: str) -> str:
    """`text` up to and with its first complete `Answer:` line: no model is asked to go on."""
    ends = (at + 1 for at, character in enumerate(text) if character == "\n")
    return next((text[:end] for end in ends if answer_line_complete(text[:end])), text)


def _with_cue(text: str) -> str:
    """`text`, made to go on with an `Answer:` line."""
    written = text.rstrip()
    return f"{written}\n{ANSWER_CUE} " if written else f"{ANSWER_CUE} "
