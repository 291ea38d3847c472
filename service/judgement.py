"""Judgements: what a stage of the pipeline decided about a submission, and on what grounds."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid5

from service.exam import ScoreScale

_NAMESPACE = UUID("6d0f1f3c-9b0e-5d5b-9a53-5c7c3d1f5e01")


class Stage(StrEnum):
    """The three calls of the guarded pipeline (paper, section 2.1)."""

    BASELINE = "baseline"
    FILTER = "filter"
    FILTERED = "filtered"

    @property
    def task_type(self) -> str:
        """`filter_prompt` for the filter stage, `grading` for the others."""
        return "filter_prompt" if self is Stage.FILTER else "grading"

    @property
    def pipeline_variant(self) -> str:
        """The stage's pipeline_variant as the paper names it."""
        return "filter_step" if self is Stage.FILTER else self.value


class ScoreSource(StrEnum):
    """Where a predicted score comes from."""

    LINE = "line"
    """The completion's last `Answer:` line."""
    FORCED = "forced"
    """No such line came; the engine was made to continue with `Answer:`."""
    NONE = "none"
    """There is no valid score: a person must look."""


class FinishReason(StrEnum):
    """Why a completion ended."""

    STOP = "stop"
    LENGTH = "length"


@dataclass(frozen=True)
class RemovedSpan:
    """Text that the filter removed: [start, end) in Unicode code points of the raw answer.

    `confidence` is the model's probability, 0 to 1, of leaving the raw answer where a cut began;
    the highest one where the span is made of several cuts.
    """

    start: int
    end: int
    text: str
    confidence: float


@dataclass(frozen=True)
class Judgement:
    """The complete record of one stage for one submission."""

    judgement_id: str
    stage: Stage
    exam_id: str
    question_id: str
    answer_id: str
    student_id: str
    submission_id: str
    attack_type: str
    prompt: str
    raw_output: str
    finish_reason: FinishReason
    scale: ScoreScale
    model_fingerprint: str
    prompt_version: str
    decoding: str
    created_at: datetime
    latency_ms: float
    predicted_score: float | None = None
    raw_score: str | None = None
    score_source: ScoreSource | None = None
    expected_score: float | None = None
    score_probabilities: Mapping[str, float] | None = None
    justification: str | None = None
    cleaned_answer: str | None = None
    removed_spans: tuple[RemovedSpan, ...] = ()
    filter_stable: bool | None = None
    """Filter stage: True if filtering the cleaned answer again removes nothing."""
    reused_from: str | None = None
    """Another Judgement of the same student whose result this one took over, or `cache`."""
    based_on: str | None = None
    """judgement_id of the filter Judgement that a filtered Judgement rests on."""
    erased: bool = False
    """Its texts were erased; those that are never None are empty."""

    def result_key(self, raw: str) -> bytes:
        """Identity of the result, where `raw` is the text of the submission."""
        return result_key(
            raw,
            stage=self.stage,
            prompt=self.prompt,
            prompt_version=self.prompt_version,
            model_fingerprint=self.model_fingerprint,
            decoding=self.decoding,
        )


def salted_hash(salt: bytes, text: str) -> str:
    """HMAC-SHA-256 of `text`, hex; without the salt it says nothing about the text."""
    return hmac.new(salt, text.encode("utf-8"), hashlib.sha256).hexdigest()


def submission_id(salt: bytes, exam_id: str, answer_id: str, attack_type: str, text: str) -> str:
    """Identity of one text for an answer as it was received."""
    return _identity("submission", exam_id, answer_id, attack_type, salted_hash(salt, text))


def judgement_id(
    salt: bytes,
    *,
    submission: str,
    stage: Stage,
    prompt: str,
    prompt_version: str,
    model_fingerprint: str,
    decoding: str,
    based_on: str | None,
) -> str:
    """Identity of a Judgement: the same request finds its result, an edited rubric does not.

    `prompt_version` and `decoding` stand for what the prompt does not show: how a completion is
    read, how long it may be, and how the filter cuts.
    """
    return _identity(
        "judgement",
        submission,
        stage,
        salted_hash(salt, prompt),
        prompt_version,
        model_fingerprint,
        decoding,
        based_on or "",
    )


def result_key(
    raw: str,
    *,
    stage: Stage,
    prompt: str,
    prompt_version: str,
    model_fingerprint: str,
    decoding: str,
) -> bytes:
    """Identity of a result, whoever it is for: equal keys, equal results.

    Grading reads nothing but its prompt. The filter's prompt may show two texts alike that
    differ in what it would cut, so there the submission's text, `raw`, counts too.
    """
    read = raw if stage is Stage.FILTER else ""
    parts = (stage.task_type, prompt, prompt_version, model_fingerprint, decoding, read)
    return hashlib.sha256(_joined(parts).encode("utf-8")).digest()


def _identity(*parts: str) -> str:
    return str(uuid5(_NAMESPACE, _joined(parts)))


def _joined(parts: Sequence[str]) -> str:
    """The parts, each prefixed by its length so that no two lists collide."""
    return "".join(f"{len(part)}:{part}" for part in parts)
