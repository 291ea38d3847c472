"""Two ways to bring a prompt to a server so that no student's text becomes a control token."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

from service.engine.tokens import PromptEncoder
from service.errors import EngineError
from service.prompts import Prompt


@dataclass(frozen=True)
class RemotePrompt:
    """A prompt as the server gets it.

    Attributes:
        path: where it is posted to, below the base URL.
        body: the part of the request that holds the prompt.
        text: all that the model reads, with the chat template around it.
        tokens: how many tokens that is.
        separator: character that was put into control strings of the text, if any.
    """

    path: str
    body: Mapping[str, Any]
    text: str
    tokens: int
    separator: str = ""

    def restore(self, completion: str) -> str:
        """The completion without the separators that the model took over from the prompt."""
        return completion.replace(self.separator, "") if self.separator else completion


class RemotePrompts(Protocol):
    """How prompts are written for a server."""

    def write(self, prompt: Prompt) -> RemotePrompt:
        """The prompt as the server gets it."""


class TokenPrompts:
    """Sends token ids: what the server reads is exactly what `PromptEncoder` made."""

    def __init__(self, encoder: PromptEncoder) -> None:
        self._encoder = encoder

    def write(self, prompt: Prompt) -> RemotePrompt:
        """The prompt as ids; text that somebody typed never has the id of a control token."""
        ids = self._encoder.prompt_ids(prompt)
        text = self._encoder.render(prompt)
        return RemotePrompt("completions", {"prompt": ids}, text, len(ids))


class ChatPrompts:
    """Sends a chat message; the server applies the template and encodes the text.

    Such a server takes `</s>` or `[INST]` in a student's text for the real thing. So a
    character that the prompt does not contain is put behind the first character of every
    control string: the model still sees what the student wrote, but no control token.
    """

    def __init__(self, encoder: PromptEncoder) -> None:
        self._encoder = encoder

    def write(self, prompt: Prompt) -> RemotePrompt:
        """The prompt as a user message without control strings.

        Raises:
            EngineError: a control string would still reach the model.
        """
        separator, turn = self._take_apart(prompt.text)
        text = self._encoder.before + turn + self._encoder.after
        ids = self._encoder.trusted_ids(text)
        if self._controls(ids) != self._template_controls:
            raise EngineError(
                "the tokenizer reads control tokens in a text that was freed of them; "
                "serve this model with a server that takes token ids"
            )
        body = {"messages": [{"role": "user", "content": turn}]}
        return RemotePrompt("chat/completions", body, text, len(ids), separator)

    def _take_apart(self, text: str) -> tuple[str, str]:
        if not self._control.search(text):
            return "", text
        separator = next(character for character in _separators() if character not in text)
        return separator, self._control.sub(rf"\1{separator}", text)

    @cached_property
    def _control(self) -> re.Pattern[str]:
        """The first character of a control string; strings that overlap all match."""
        strings = sorted(self._encoder.control_strings, key=len, reverse=True)
        return re.compile(rf"(?=(?:{'|'.join(map(re.escape, strings))}))(.)", re.I | re.S)

    @cached_property
    def _template_controls(self) -> int:
        return self._controls(self._encoder.trusted_ids(self._encoder.before + self._encoder.after))

    def _controls(self, ids: list[int]) -> int:
        added = self._encoder.tokenizer.added_tokens_decoder
        return sum(token_id in added and bool(added[token_id].content.strip()) for token_id in ids)


def _separators() -> Iterator[str]:
    """Characters without a width, then private ones that nobody types."""
    return chain("\u200b\u2060\u200c\u200d", map(chr, range(0xF0000, 0xFFFFE)))
