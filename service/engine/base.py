"""What the filter and the grader ask of a model, whichever way it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from service.judgement import FinishReason
from service.prompts import Prompt

REWRITE_TOKENS = 256
"""Most new tokens of a free rewrite (paper, section 2.1)."""


CutsBy = Literal["copy", "mark"]
"""A filter adapter is taught to write what stays (`copy`) or to mark what is cut (`mark`)."""

GradesBy = Literal["write", "mark"]
"""A grader writes its score, or marks how much of the full score an answer earns."""


class Role(StrEnum):
    """Which task a call is for, and so which adapter (or none) is active."""

    FILTER = "filter"
    GRADE = "grade"


@dataclass(frozen=True)
class GradeRequest:
    """Ask for a completion that ends in an `Answer:` line, and the odds of each valid score.

    `choices` are the valid scores as they would be written on the line, e.g. ("1", …, "10").
    """

    prompt: Prompt
    choices: tuple[str, ...]


@dataclass(frozen=True)
class GradeCompletion:
    """A grading completion.

    Attributes:
        text: the completion only, without the prompt, as the model wrote it.
        finish_reason: `stop` (end of turn or complete `Answer:` line) or `length`.
        choice_probabilities: probability of each choice after the last `Answer:`, normalised
            over the choices; None where the engine cannot say.
        forced_choice: the likeliest choice where the model wrote no `Answer:` line and the
            engine continued with one; None otherwise.
        latency_ms: wall-clock time of the batch that this completion was part of.
    """

    text: str
    finish_reason: FinishReason
    choice_probabilities: Mapping[str, float] | None
    forced_choice: str | None
    latency_ms: float


@dataclass(frozen=True)
class CopyRequest:
    """Ask for `raw` with what does not belong there cut out."""

    prompt: Prompt
    raw: str


@dataclass(frozen=True)
class Cut:
    """[start, end) of the raw text in code points, and the model's confidence, 0 to 1."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True)
class CopyCompletion:
    """What of a text does not belong there.

    Attributes:
        cuts: ascending, disjoint, non-empty; what stays is the raw text without them.
        forward_passes: model calls that this text needed (1.0 for an untouched answer).
        latency_ms: wall-clock time of the batch that this text was part of.
    """

    cuts: tuple[Cut, ...]
    forward_passes: int
    latency_ms: float


@dataclass(frozen=True)
class FreeCompletion:
    """Plain greedy text for a prompt, at most `REWRITE_TOKENS` long."""

    text: str
    finish_reason: FinishReason
    latency_ms: float


class Engine(Protocol):
    """A model with its adapters. Safe to call from many threads; calls that wait are batched."""

    @property
    def cuts_by(self) -> CutsBy | None:
        """How `copy` decides what is cut; None if the engine can only `rewrite`."""

    @property
    def grades_by(self) -> GradesBy:
        """How `grade` comes to a score."""

    @property
    def justifies(self) -> bool:
        """True if the grader writes a justification before its `Answer:` line."""

    @property
    def max_grade_tokens(self) -> int:
        """Most new tokens of a grading completion."""

    def fingerprint(self, role: Role) -> str:
        """Hash over base, adapter, tokenizer and dtype: what decides this role's outputs."""

    def render(self, prompt: Prompt) -> str:
        """The exact text that the model reads: the prompt inside the chat template."""

    def grade(self, requests: Sequence[GradeRequest]) -> list[GradeCompletion]:
        """Greedy grading completions, in the order of the requests.

        Raises:
            PromptTooLongError: a prompt and its completion do not fit the context.
            EngineError: the model call failed.
        """

    def copy(self, requests: Sequence[CopyRequest]) -> list[CopyCompletion]:
        """What the filter adapter cuts from each text; same errors as `grade`."""

    def rewrite(self, prompts: Sequence[Prompt], *, role: Role) -> list[FreeCompletion]:
        """Greedy text with the role's adapter; same errors as `grade`."""

    def filter_is_base(self, prompt: Prompt) -> bool:
        """True if the filter expects behind `prompt` what the bare base model expects.

        Then no adapter is at work, whatever was loaded or asked for. Where the engine is not
        told what a model expects, what both write counts.

        Raises:
            EngineError: the model call failed.
        """

    def close(self) -> None:
        """Release the model."""
