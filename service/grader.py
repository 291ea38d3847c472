"""The grader: the unmodified instruction model reads an answer and writes a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.engine.base import Engine, GradeCompletion, GradeRequest
from service.exam import Question, ScoreScale, format_score
from service.judgement import FinishReason, ScoreSource
from service.prompts import Prompt, cue_end, grading_prompt, justification, parse_score


@dataclass(frozen=True)
class Grade:
    """What the grader says about a text, and on what grounds.

    `expected_score` is the mean of the valid scores, weighted by their probabilities.
    """

    raw_output: str
    finish_reason: FinishReason
    predicted_score: float | None
    raw_score: str | None
    score_source: ScoreSource
    expected_score: float | None
    score_probabilities: Mapping[str, float] | None
    justification: str | None
    latency_ms: float


class Grader:
    """Grades texts, raw or cleaned; it cannot tell which."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def decoding(self) -> str:
        """How grades are decoded, with the most new tokens: another limit, another grade."""
        if self.engine.grades_by == "mark":
            return "mark"
        return f"greedy/{self.engine.max_grade_tokens}"

    def prompt(self, question: Question, text: str) -> Prompt:
        """The prompt that `grade` sends for `text`."""
        return grading_prompt(question, text, justify=self.engine.justifies)

    def grade(self, items: Sequence[tuple[Question, str]]) -> list[Grade]:
        """Grade each text against its question's rubric.

        Raises:
            PromptTooLongError: a prompt does not fit the model's context.
            EngineError: the model call failed.
        """
        requests = [
            GradeRequest(
                self.prompt(question, text), tuple(map(format_score, question.scale.scores()))
            )
            for question, text in items
        ]
        completions = self.engine.grade(requests)
        return [
            _grade(completion, question.scale)
            for completion, (question, _) in zip(completions, items, strict=True)
        ]


def _grade(completion: GradeCompletion, scale: ScoreScale) -> Grade:
    score, raw, source = _score(completion, scale)
    odds = completion.choice_probabilities
    return Grade(
        raw_output=completion.text,
        finish_reason=completion.finish_reason,
        predicted_score=score,
        raw_score=raw,
        score_source=source,
        expected_score=None if odds is None else sum(float(s) * p for s, p in odds.items()),
        score_probabilities=odds,
        justification=justification(completion.text),
        latency_ms=completion.latency_ms,
    )


def _score(
    completion: GradeCompletion, scale: ScoreScale
) -> tuple[float | None, str | None, ScoreSource]:
    """Score, raw value and source: a line binds, valid or not; only without one is it forced."""
    parsed = parse_score(completion.text, scale)
    if parsed.raw is None:
        if completion.forced_choice is None:
            return None, None, ScoreSource.NONE
        return float(completion.forced_choice), None, ScoreSource.FORCED
    if completion.finish_reason is FinishReason.LENGTH and not _line_ends(completion.text):
        # "Answer: 1" may be the beginning of "Answer: 10".
        return None, parsed.raw, ScoreSource.NONE
    return parsed.score, parsed.raw, parsed.source


def _line_ends(text: str) -> bool:
    return "\n" in text[cue_end(text) :]
