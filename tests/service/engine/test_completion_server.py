from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from service.engine.completion_server import CompletionServer, RequestRefusedError, ServedModel
from service.errors import EngineError, SettingsError
from service.judgement import FinishReason
from tests.service.engine.remote_servers import Reply, scripted_server, unused_url

KEY = "sk-very-secret-0123456789"
DONE = {"choices": [{"text": "done", "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}


@contextmanager
def server_that(*replies: Reply, key: str | None = None, timeout: float = 30) -> Iterator[Any]:
    """A client of a server that gives these replies in turn, and the requests that came."""
    waiting = list(replies)
    seen: list[dict[str, Any]] = []

    def answer(path: str, body: dict[str, Any]) -> Reply:
        seen.append({"path": path, **body})
        return waiting.pop(0)

    with scripted_server(answer) as url:
        secret = SecretStr(key) if key else None
        client = CompletionServer(url, secret, timeout=timeout, retry_wait=0.001)
        try:
            yield client, seen
        finally:
            client.close()


def test_a_completion_is_read() -> None:
    with server_that((200, DONE), key=KEY) as (client, seen):
        completion = client.complete("completions", {"prompt": [1, 2, 3]})
    assert (completion.text, completion.finish_reason) == ("done", FinishReason.STOP)
    assert completion.prompt_tokens == 3
    assert completion.first_token is None
    assert seen == [
        {"path": "/v1/completions", "prompt": [1, 2, 3], "authorization": f"Bearer {KEY}"}
    ]


@pytest.mark.parametrize(
    "busy",
    [
        (429, {"error": "slow down"}),
        (503, b"starting"),
        (429, b"", {"Retry-After": "0"}),
        (429, b"", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        None,
    ],
)
def test_a_busy_server_is_asked_again(busy: Reply) -> None:
    with server_that(busy, busy, (200, DONE)) as (client, seen):
        assert client.complete("completions", {}).text == "done"
    assert len(seen) == 3


def test_a_server_that_stays_busy_is_an_error() -> None:
    with (
        server_that(*[(429, b"")] * 5) as (client, _),
        pytest.raises(EngineError, match=r"too busy \(HTTP 429\); gave up after 5 attempts"),
    ):
        client.complete("completions", {})


@pytest.mark.parametrize("status", [400, 404, 422, 500, 502])
def test_other_failures_are_not_tried_again(status: int) -> None:
    with server_that((status, {"error": {"message": "no such thing"}})) as (client, seen):
        with pytest.raises(EngineError, match=f"HTTP {status}.*no such thing") as raised:
            client.complete("completions", {})
        assert isinstance(raised.value, RequestRefusedError) == (status < 500)
        assert len(seen) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"<html>It works!</html>",
        b"\xff\xfe",
        b"",
        {"choices": []},
        {"object": "list"},
        {"choices": [{"text": 7, "finish_reason": "stop"}]},
    ],
)
def test_what_is_no_completion_is_an_error(content: Any) -> None:
    with (
        server_that((200, content)) as (client, _),
        pytest.raises(EngineError, match="did not answer as an OpenAI-compatible server"),
    ):
        client.complete("completions", {})


@pytest.mark.parametrize("reason", ["abort", "content_filter", None])
def test_a_completion_that_was_broken_off_is_an_error(reason: str | None) -> None:
    broken = {"choices": [{"text": "Answer: 1", "finish_reason": reason}]}
    with (
        server_that((200, broken)) as (client, _),
        pytest.raises(EngineError, match="broke a completion off"),
    ):
        client.complete("completions", {})


def test_nobody_listens() -> None:
    url = unused_url()
    client = CompletionServer(url, None, timeout=5, retry_wait=0.001)
    with pytest.raises(EngineError, match=f"cannot reach {url}.*STEADYEVAL_ENGINE_URL"):
        client.models()
    client.close()


def test_a_slow_server_is_not_asked_twice() -> None:
    seen: list[str] = []

    def answer(path: str, _: dict[str, Any]) -> Reply:
        seen.append(path)
        time.sleep(1)
        return 200, DONE

    with scripted_server(answer) as url:
        client = CompletionServer(url, None, timeout=0.1, retry_wait=0.001)
        with pytest.raises(EngineError, match=r"did not answer within 0\.1 s"):
            client.complete("completions", {})
        client.close()
    assert len(seen) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_bad_key_is_named_but_not_shown(status: int) -> None:
    echo = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    with (
        server_that((status, echo), key=KEY) as (client, _),
        pytest.raises(
            EngineError, match="refuses the API key; set STEADYEVAL_ENGINE_API_KEY"
        ) as raised,
    ):
        client.models()
    assert KEY not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_key_that_the_server_repeats_is_not_shown(status: int) -> None:
    with (
        server_that((status, f"you sent {KEY}".encode()), key=KEY) as (client, _),
        pytest.raises(EngineError, match="you sent …") as raised,
    ):
        client.models()
    assert KEY not in "".join(traceback.format_exception(raised.value))


def test_a_missing_key_is_asked_for() -> None:
    with (
        server_that((401, b"")) as (client, seen),
        pytest.raises(EngineError, match="wants an API key"),
    ):
        client.models()
    assert seen[0]["authorization"] is None


@pytest.mark.parametrize("key", ["line\nbreak", "schlüssel", "nul\0"])
def test_a_key_that_no_header_can_hold_is_refused(key: str) -> None:
    with pytest.raises(SettingsError, match="STEADYEVAL_ENGINE_API_KEY") as raised:
        CompletionServer("http://127.0.0.1/v1", SecretStr(key), timeout=1)
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000", "ftp://host/v1", "http://", "http://host:port"]
)
def test_a_url_that_cannot_be_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="STEADYEVAL_ENGINE_URL"):
        CompletionServer(url, None, timeout=1)


def test_a_password_in_the_url_is_not_shown() -> None:
    url = unused_url().replace("//", "//user:geheim@")
    client = CompletionServer(url, None, timeout=5, retry_wait=0.001)
    with pytest.raises(EngineError) as raised:
        client.models()
    client.close()
    assert "geheim" not in "".join(traceback.format_exception(raised.value))


def test_the_context_and_what_an_adapter_is_on_are_taken_from_either_kind_of_server() -> None:
    cards = [
        {"id": "vllm", "max_model_len": 4096},
        {"id": "llama.cpp", "meta": {"n_ctx": 2048}},
        {"id": "lora", "max_model_len": None, "parent": "vllm"},
    ]
    with server_that((200, {"data": cards})) as (client, _):
        assert client.models() == [
            ServedModel("vllm", 4096, None),
            ServedModel("llama.cpp", 2048, None),
            ServedModel("lora", None, "vllm"),
        ]


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        ({"top_logprobs": [{"token_id:28": -0.5, "token_id:2": -1.5}]}, {28: -0.5, 2: -1.5}),
        (
            {"content": [{"top_logprobs": [{"id": 28, "token": "1", "logprob": -0.5}]}]},
            {28: -0.5},
        ),
        ({"top_logprobs": [{" 1": -0.5, "1": -0.7}]}, None),
        ({"content": [{"top_logprobs": [{"token": "1", "logprob": -0.5}]}]}, None),
        ({"top_logprobs": [], "tokens": []}, None),
        ({"top_logprobs": None}, None),
        ("no", None),
        (None, None),
    ],
)
def test_odds_are_read_where_tokens_are_named_by_id(
    logprobs: object, expected: dict[int, float] | None
) -> None:
    reply = {"choices": [{"text": "1", "finish_reason": "length", "logprobs": logprobs}]}
    with server_that((200, reply)) as (client, _):
        assert client.complete("completions", {}).first_token == expected
