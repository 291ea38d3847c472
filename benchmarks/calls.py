"""The calls of a writing model that the paper's procedure consists of, whoever carries them out."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.texts import Text
from service.detection_view import detection_view
from service.engine.base import REWRITE_TOKENS, Role
from service.engine.tokens import PromptEncoder
from service.exam import format_score
from service.prompts import ANSWER_CUE, filter_prompt, grading_prompt


@dataclass(frozen=True)
class Call:
    """A prompt that is written on, greedily.

    Attributes:
        role: whose adapter writes.
        prompt: ids of the prompt.
        tokens: how many are written at most.
        exactly: that many are written, whatever the model says; else the turn may end before.
    """

    role: Role
    prompt: list[int]
    tokens: int
    exactly: bool


class PaperCalls:
    """The three calls for an answer: filter it, grade it, grade what is left.

    A filter writes exactly as many tokens as a right one would: those of the cleaned answer and
    the end of the turn, at most `REWRITE_TOKENS`. So its time is that of the paper's filter, also
    where the adapter at hand was taught to mark and what it writes is no answer.

    Args:
        encoder: of the model that writes.
    """

    def __init__(self, encoder: PromptEncoder) -> None:
        self._encoder = encoder

    def filter(self, text: Text) -> Call:
        """Write the cleaned answer."""
        prompt = filter_prompt(text.question, detection_view(text.answer.text).text)
        tokens = min(self._length(text.clean), REWRITE_TOKENS)
        return Call(Role.FILTER, self._encoder.prompt_ids(prompt), tokens, exactly=True)

    def scores(self, text: Text) -> tuple[Call, Call]:
        """Write the score of the raw answer, and of what is left; scores alone."""
        tokens = self._length(f"{ANSWER_CUE} {format_score(text.question.scale.max_points)}")
        raw, left = self._grading_prompts(text, justify=False)
        return (
            Call(Role.GRADE, raw, tokens, exactly=True),
            Call(Role.GRADE, left, tokens, exactly=True),
        )

    def justifications(self, text: Text, tokens: int) -> tuple[Call, Call]:
        """The same with at most `tokens` for a justification and its score."""
        raw, left = self._grading_prompts(text, justify=True)
        return (
            Call(Role.GRADE, raw, tokens, exactly=False),
            Call(Role.GRADE, left, tokens, exactly=False),
        )

    def _grading_prompts(self, text: Text, *, justify: bool) -> tuple[list[int], list[int]]:
        raw = grading_prompt(text.question, text.answer.text, justify=justify)
        left = grading_prompt(text.question, text.clean, justify=justify)
        return self._encoder.prompt_ids(raw), self._encoder.prompt_ids(left)

    def _length(self, text: str) -> int:
        """Tokens of a text and of the end of the turn."""
        return len(self._encoder.plain_ids(text)) + 1
