"""An honest answer to a question."""

from __future__ import annotations

from dataclasses import dataclass

from service.exam import Question


@dataclass(frozen=True)
class Honest:
    """An answer without any attack: an ideal filter returns `text` unchanged.

    Attributes:
        question: what was asked.
        text: the answer; no white space around it.
        kind: how it came about.
    """

    question: Question
    text: str
    kind: str
