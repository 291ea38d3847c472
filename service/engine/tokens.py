"""From prompt to token ids, so that text which somebody typed never becomes a control token.

The chat template is the only source of control tokens. Everything inside the user turn is
encoded as plain text. Where a template marks turns with ordinary text (`[INST]` in
Mistral-7B-Instruct-v0.2), the same marker inside the user turn is encoded letter by letter:
the same characters, but never the ids of the template's marker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from service.engine.base import Role
from service.errors import ProfileError
from service.prompts import Prompt

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_PLACEHOLDER = "\ue000user turn\ue000"
_MARKER = re.compile(r"\[/?[A-Z_]+\]|<\|?[^<>|\s]+\|?>|<</?[A-Z_]+>>")
_ANCHOR = "\ue000"
_BEGINS_A_WORD = re.compile(r"[▁Ġ]?[A-Za-z0-9]")
_HEADS = 256
_MARKS = {Role.FILTER: ("keep", "cut"), Role.GRADE: ("wrong", "right")}


@dataclass(frozen=True)
class DraftToken:
    """One token of a plain text: it covers [start, end) code points.

    Several tokens may share one character (byte-level vocabularies); only the first of them
    is `cuttable`, since a cut inside a character is not one.
    """

    token_id: int
    start: int
    end: int
    cuttable: bool


class PromptEncoder:
    """Encodes prompts for one tokenizer and its chat template. Safe to use from many threads."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        # Whether control strings are taken apart is a state of the tokenizer, not of a call.
        self._lock = Lock()
        rendered = str(
            tokenizer.apply_chat_template(
                [{"role": "user", "content": _PLACEHOLDER}],
                tokenize=False,
                add_generation_prompt=True,
            )
        )
        if rendered.count(_PLACEHOLDER) != 1:
            raise ProfileError("the chat template must show the user turn exactly once")
        self.before, self.after = rendered.split(_PLACEHOLDER)
        self._head_ids = lru_cache(_HEADS)(self._encode_head)

    @cached_property
    def before_ids(self) -> list[int]:
        """Ids of the template before the user turn, with control tokens."""
        return self.trusted_ids(self.before)

    @cached_property
    def after_ids(self) -> list[int]:
        """Ids of the template after the user turn, up to where the model begins to write."""
        return self.trusted_ids(self.after)

    @cached_property
    def line_break_ids(self) -> list[int]:
        """Tokens that begin with a line break."""
        names = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        # Decoding a large vocabulary takes seconds; most of it plainly begins with something else.
        ids = [n for n, name in enumerate(names) if not _BEGINS_A_WORD.match(name)]
        texts = self.tokenizer.batch_decode([[token_id] for token_id in ids])
        return [n for n, text in zip(ids, texts, strict=True) if text.startswith(("\n", "\r"))]

    def mark_ids(self, role: Role) -> tuple[int, int]:
        """Tokens for no and yes: by their odds a model that was taught to mark gives its marks.

        A filter says whether a token is cut, a grader whether an answer is right.
        """
        no, yes = _MARKS[role]
        return self.plain_ids(no)[0], self.plain_ids(yes)[0]

    def render(self, prompt: Prompt) -> str:
        """The text that the model reads."""
        return self.before + prompt.text + self.after

    def head_ids(self, prompt: Prompt) -> list[int]:
        """Ids of all that the students of a question share: template and question."""
        return list(self._head_ids(prompt.head))

    def _encode_head(self, head: str) -> tuple[int, ...]:
        return (*self.before_ids, *self.plain_ids(head))

    def tail_ids(self, prompt: Prompt) -> list[int]:
        """Ids of what differs between students: the answer and the template's end."""
        return [*self.plain_ids(prompt.tail, continues=True), *self.after_ids]

    def prompt_ids(self, prompt: Prompt) -> list[int]:
        """Ids of the whole prompt."""
        return [*self.head_ids(prompt), *self.tail_ids(prompt)]

    def trusted_ids(self, text: str) -> list[int]:
        """Ids of a text in which control strings are control tokens, as a chat server reads it."""
        return list(self._tokenize(text, split_special_tokens=False)["input_ids"])

    def plain_ids(self, text: str, *, continues: bool = False) -> list[int]:
        """Ids of `text` as plain text; `continues` if other text stands before it."""
        return [token.token_id for token in self.draft(text, continues=continues)]

    def draft(self, text: str, *, continues: bool = False) -> list[DraftToken]:
        """`text` as plain tokens with the characters that each covers."""
        tokens: list[DraftToken] = []
        for start, end in self._pieces(text):
            tokens += self._piece(text[start:end], start, continues=continues or start > 0)
        return tokens

    def _pieces(self, text: str) -> list[tuple[int, int]]:
        """Spans of `text` to encode on their own: every letter of a template marker is one."""
        if self._markers is None:
            return [(0, len(text))] if text else []
        pieces: list[tuple[int, int]] = []
        done = 0
        for match in self._markers.finditer(text):
            pieces.append((done, match.start()))
            pieces += [(at, at + 1) for at in range(match.start(), match.end())]
            done = match.end()
        pieces.append((done, len(text)))
        return [(start, end) for start, end in pieces if start < end]

    @cached_property
    def control_strings(self) -> frozenset[str]:
        """What the tokenizer or its template takes for control where it stands in a text."""
        added = {token.content for token in self.tokenizer.added_tokens_decoder.values()}
        markers = _MARKER.findall(self.before) + _MARKER.findall(self.after)
        return frozenset(text for text in {*added, *markers} if text.strip())

    @cached_property
    def _markers(self) -> re.Pattern[str] | None:
        """Control strings that `split_special_tokens` does not take apart."""
        added = self.tokenizer.added_tokens_decoder.values()
        special = {token.content for token in added if token.special}
        plain = sorted(self.control_strings - special, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, plain)), re.IGNORECASE) if plain else None

    def _piece(self, text: str, offset: int, *, continues: bool) -> list[DraftToken]:
        # A tokenizer may put a space before the first word of a text. Behind a private-use
        # character, which merges with nothing, a piece is encoded as it would be inside a text.
        anchor = _ANCHOR if continues else ""
        encoding = self._tokenize(
            anchor + text, split_special_tokens=True, return_offsets_mapping=True
        )
        tokens: list[DraftToken] = []
        done = 0
        for token_id, (start, end) in zip(
            encoding["input_ids"], encoding["offset_mapping"], strict=True
        ):
            if end <= len(anchor):
                continue
            start, end = max(start - len(anchor), 0), end - len(anchor)
            tokens.append(DraftToken(token_id, offset + done, offset + end, start >= done))
            done = max(done, end)
        if tokens and done < len(text):
            # A vocabulary may lack a byte; its character belongs to the token before it.
            tokens[-1] = replace(tokens[-1], end=offset + len(text))
        return tokens

    def _tokenize(self, text: str, **options: bool) -> Any:
        with self._lock:
            return self.tokenizer(text, add_special_tokens=False, **options)
