"""An OpenAI-compatible server over HTTP: what it serves, what it writes, how it fails."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, Field, SecretStr, ValidationError

from service.errors import EngineError, SettingsError
from service.judgement import FinishReason

_ATTEMPTS = 5
_LONGEST_WAIT = 30.0
_BUSY = frozenset({httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE})
_NO_ACCESS = frozenset({httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN})
_LONGEST_DETAIL = 300

_ReplyT = TypeVar("_ReplyT", bound=BaseModel)


class RequestRefusedError(EngineError):
    """The server understood the request and will not do it."""


@dataclass(frozen=True)
class ServedModel:
    """A model that the server lists, with its context in tokens and what it is an adapter on.

    Both are None where the server does not say.
    """

    name: str
    context: int | None
    parent: str | None


@dataclass(frozen=True)
class RemoteCompletion:
    """What a server wrote.

    Attributes:
        text: the completion.
        finish_reason: why it ended.
        prompt_tokens: how many tokens the server read, where it says so.
        first_token: log-probability of the likeliest first tokens by token id; None where the
            server does not say or names tokens by their text, which is ambiguous.
    """

    text: str
    finish_reason: FinishReason
    prompt_tokens: int | None
    first_token: Mapping[int, float] | None


class CompletionServer:
    """One server. Safe to use from many threads.

    Busy answers (429, 503) and broken connections are tried again, each time after a longer
    wait; nothing else is. The API key is never part of a message.

    Args:
        url: base URL, up to and with `/v1`.
        api_key: sent as bearer token.
        timeout: seconds that one request may take.
        retry_wait: seconds before the second attempt.

    Raises:
        SettingsError: URL or key cannot be used.
    """

    def __init__(
        self, url: str, api_key: SecretStr | None, *, timeout: float, retry_wait: float = 0.5
    ) -> None:
        self._key = api_key.get_secret_value() if api_key else ""
        if not (self._key.isascii() and self._key.isprintable()):
            raise SettingsError("STEADYEVAL_ENGINE_API_KEY: only printable ASCII characters")
        base = _base_url(url)
        self.address = str(base.copy_with(userinfo=b""))
        self._timeout = timeout
        self._retry_wait = retry_wait
        self._http = httpx.Client(
            base_url=base,
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx.Timeout(timeout, pool=None),
        )

    def models(self) -> list[ServedModel]:
        """What the server lists under `GET /models`.

        Raises:
            EngineError: the server cannot be asked.
        """
        listed = self._ask("GET", "models", None, _ModelList)
        return [ServedModel(card.id, card.context, card.parent) for card in listed.data]

    def complete(self, path: str, request: Mapping[str, Any]) -> RemoteCompletion:
        """Send one completion request and wait for all of its text.

        Raises:
            RequestRefusedError: the server will not do what was asked.
            EngineError: the call failed in another way.
        """
        reply = self._ask("POST", path, request, _Reply)
        choice = reply.choices[0]
        if choice.finish_reason not in tuple(FinishReason):
            raise EngineError(
                f"{self.address} broke a completion off: finish_reason is {choice.finish_reason!r}"
            )
        return RemoteCompletion(
            choice.written,
            FinishReason(choice.finish_reason),
            reply.usage.prompt_tokens if reply.usage else None,
            _first_token(choice.logprobs),
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None, kind: type[_ReplyT]
    ) -> _ReplyT:
        response = self._send(method, path, body)
        if not response.is_success:
            raise self._failure(response)
        try:
            return kind.model_validate_json(response.content)
        except ValidationError:
            raise EngineError(
                f"{response.request.url.path} of {self.address} did not answer as an "
                f"OpenAI-compatible server does: {self._detail(response)}"
            ) from None

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        for attempt in range(_ATTEMPTS):
            wait = self._retry_wait * 2**attempt
            try:
                response = self._http.request(method, path, json=body)
            except (httpx.ReadTimeout, httpx.WriteTimeout):
                raise EngineError(
                    f"{self.address} did not answer within {self._timeout:g} s; "
                    "STEADYEVAL_ENGINE_TIMEOUT sets how long to wait"
                ) from None
            except httpx.RequestError as error:
                failure = f"cannot reach {self.address} (STEADYEVAL_ENGINE_URL): {error}"
            else:
                if response.status_code not in _BUSY:
                    return response
                failure = f"{self.address} is too busy (HTTP {response.status_code})"
                wait = _retry_after(response) or wait
            if attempt + 1 < _ATTEMPTS:
                time.sleep(min(wait, _LONGEST_WAIT))
        raise EngineError(f"{failure}; gave up after {_ATTEMPTS} attempts")

    def _failure(self, response: httpx.Response) -> EngineError:
        status = response.status_code
        if status in _NO_ACCESS:
            fault = "refuses the API key" if self._key else "wants an API key"
            return EngineError(f"{self.address} {fault}; set STEADYEVAL_ENGINE_API_KEY")
        kind = RequestRefusedError if response.is_client_error else EngineError
        return kind(
            f"{response.request.method} {response.request.url.path} of {self.address} failed: "
            f"HTTP {status}: {self._detail(response)}"
        )

    def _detail(self, response: httpx.Response) -> str:
        text = response.text
        if self._key:
            text = text.replace(self._key, "…")
        return text[:_LONGEST_DETAIL] or "no text"


class _Meta(BaseModel):
    n_ctx: int | None = None


class _ModelCard(BaseModel):
    id: str
    parent: str | None = None
    max_model_len: int | None = None
    meta: _Meta | None = None

    @property
    def context(self) -> int | None:
        return self.max_model_len or (self.meta.n_ctx if self.meta else None)


class _ModelList(BaseModel):
    data: list[_ModelCard]


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: Any = None

    @property
    def written(self) -> str:
        return (self.message.content if self.message else self.text) or ""


class _Usage(BaseModel):
    prompt_tokens: int | None = None


class _Reply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _LlamaToken(BaseModel):
    id: int
    logprob: float


class _LlamaPosition(BaseModel):
    top_logprobs: list[_LlamaToken]


class _Logprobs(BaseModel):
    """Both forms that name tokens by id: vLLM's `top_logprobs` and llama.cpp's `content`."""

    top_logprobs: list[dict[str, float]] = []
    content: list[_LlamaPosition] = []


def _first_token(logprobs: Any) -> Mapping[int, float] | None:
    try:
        parsed = _Logprobs.model_validate(logprobs)
    except ValidationError:
        return None
    if parsed.content:
        return {token.id: token.logprob for token in parsed.content[0].top_logprobs}
    if not parsed.top_logprobs:
        return None
    names = parsed.top_logprobs[0]
    if not all(name.startswith("token_id:") for name in names):
        return None
    return {int(name.removeprefix("token_id:")): value for name, value in names.items()}


def _retry_after(response: httpx.Response) -> float | None:
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdecimal() else None


def _base_url(url: str) -> httpx.URL:
    try:
        base = httpx.URL(url)
    except httpx.InvalidURL:
        base = httpx.URL()
    if base.scheme not in ("http", "https") or not base.host:
        raise SettingsError("STEADYEVAL_ENGINE_URL must look like http://127.0.0.1:8000/v1")
    return base
