"""The exam record with the paper's field names (section 2.3), as files and requests carry it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from statistics import fmean
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from service.errors import InputError
from service.exam import (
    UNLABELLED,
    Answer,
    Criterion,
    ExamItem,
    HumanDimension,
    HumanScore,
    Question,
    ScoreScale,
    format_score,
)

_DEFAULT_MAX_POINTS = 10.0
_MOST_POINTS = 1000
_MEAN_TOLERANCE = 0.051
"""A mean may be rounded to one decimal."""
_NO_LINE = {"Cc", "Zl", "Zp"}


def _check_characters(value: object) -> object:
    if isinstance(value, str):
        if "\x00" in value:
            raise ValueError(f"has a NUL character at position {value.index(chr(0))}")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"has half a surrogate pair (U+{ord(value[error.start]):04X}) at position "
                f"{error.start}; the text was damaged before it came here"
            ) from None
    return value


def _check_filled(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def _check_identifier(value: str) -> str:
    _check_filled(value)
    if any(unicodedata.category(character) in _NO_LINE for character in value):
        raise ValueError("must not have control characters or line breaks")
    return value


Text = Annotated[str, BeforeValidator(_check_characters)]
"""Any text without NUL characters and lone surrogates; may be empty."""
FilledText = Annotated[Text, Field(min_length=1), AfterValidator(_check_filled)]
Identifier = Annotated[Text, AfterValidator(_check_identifier), Field(min_length=1, max_length=200)]
"""An id or name: one line, 1 to 200 characters."""
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Weight = Annotated[int, Field(strict=True, ge=1, le=_MOST_POINTS)]


class QuestionModel(BaseModel):
    """A question with its rubric and scale. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    question_id: Identifier
    dataset: Identifier = Field(description="name of the exam")
    domain: Identifier = Field(description="name of the course")
    question: FilledText
    gold_answer: Text = Field("", alias="Gold_answer", description="the official solution")
    gold_points: list[tuple[FilledText, Weight]] = Field(
        default_factory=list, alias="Gold_points", description="criteria: [[text, weight], …]"
    )
    rubric: Text = Field(
        "", validate_default=True, description="how to grade, where there are no Gold_points"
    )
    gold_type: Text = Field("", alias="Gold_type", description="such as factual, argumentative")
    banned_misconceptions: list[FilledText] = Field(
        default_factory=list, alias="Banned_misconceptions"
    )
    min_score: Number = 1.0
    max_points: Number | None = Field(
        None,
        le=_MOST_POINTS,
        validate_default=True,
        description="default: the sum of the weights, or 10 without Gold_points",
    )
    step: Number = Field(1.0, validate_default=True, description="1 or 0.5")

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        return {name: value for name, value in data.items() if value is not None}

    @field_validator("rubric")
    @classmethod
    def _says_how_to_grade(cls, rubric: str, info: ValidationInfo) -> str:
        if not rubric.strip() and info.data.get("gold_points") == []:
            raise ValueError("must say how to grade where there are no Gold_points")
        return rubric

    @field_validator("max_points")
    @classmethod
    def _is_sum_of_weights(cls, given: float | None, info: ValidationInfo) -> float | None:
        points = info.data.get("gold_points")
        if points is None:
            return given
        total = float(sum(weight for _, weight in points)) if points else None
        if total is not None and given is not None and given != total:
            raise ValueError(
                f"is {format_score(given)}, but the weights of Gold_points add up to "
                f"{format_score(total)}; leave it out or make them equal"
            )
        if total is not None and total > _MOST_POINTS:
            raise ValueError(
                f"the weights of Gold_points add up to {format_score(total)}; "
                f"no question has more than {_MOST_POINTS} points"
            )
        return next(
            maximum for maximum in (given, total, _DEFAULT_MAX_POINTS) if maximum is not None
        )

    @field_validator("step")
    @classmethod
    def _makes_a_scale(cls, step: float, info: ValidationInfo) -> float:
        minimum, maximum = info.data.get("min_score"), info.data.get("max_points")
        if minimum is not None and maximum is not None:
            try:
                ScoreScale(minimum, maximum, step)
            except InputError as error:
                raise ValueError(f"makes no scale: {error}") from None
        return step

    def to_question(self) -> Question:
        """The question as the pipeline takes it."""
        assert self.max_points is not None  # filled in by its validator
        return Question(
            exam_id=self.dataset,
            question_id=self.question_id,
            domain=self.domain,
            text=self.question,
            gold_answer=self.gold_answer,
            rubric=self.rubric,
            gold_type=self.gold_type,
            gold_points=tuple(Criterion(text, weight) for text, weight in self.gold_points),
            banned_misconceptions=tuple(self.banned_misconceptions),
            scale=ScoreScale(self.min_score, self.max_points, self.step),
        )


class ExamRecord(QuestionModel):
    """One student answer with its question and its human scores. Unknown fields are ignored."""

    answer_id: Identifier
    student_id: Identifier
    student_answer: Text = Field(description="may be empty")
    attack_type: Identifier = UNLABELLED
    human_scores: list[Number | None] = Field(
        default_factory=list, description="one a rater; null where a rater gave none"
    )
    human_score: Number | None = Field(
        None, description="mean of human_scores; taken as the only rater's where they are absent"
    )
    human_dimensions: dict[Text, dict[Text, Number]] = Field(
        default_factory=dict, description="{rater: {dimension: value}}; read by evaluations alone"
    )
    split: Identifier | None = Field(None, description="train, val or test")

    @field_validator("student_answer")
    @classmethod
    def _is_short_enough(cls, answer: str, info: ValidationInfo) -> str:
        limit = (info.context or {}).get("max_answer_chars")
        if limit is not None and len(answer) > limit:
            raise ValueError(f"has {len(answer)} characters; at most {limit} are accepted")
        return answer

    @field_validator("human_scores", "human_score")
    @classmethod
    def _are_on_the_scale(cls, given: Any, info: ValidationInfo) -> Any:
        minimum, maximum = info.data.get("min_score"), info.data.get("max_points")
        if minimum is not None and maximum is not None:
            for score in given if isinstance(given, list) else [given]:
                if score is not None and not minimum <= score <= maximum:
                    raise ValueError(
                        f"{format_score(score)} is not between min_score "
                        f"{format_score(minimum)} and max_points {format_score(maximum)}"
                    )
        return given

    @field_validator("human_score")
    @classmethod
    def _is_mean_of_scores(cls, given: float | None, info: ValidationInfo) -> float | None:
        scores = [score for score in info.data.get("human_scores", ()) if score is not None]
        if given is not None and scores and abs(given - fmean(scores)) > _MEAN_TOLERANCE:
            raise ValueError(
                f"is {format_score(given)}, but the mean of human_scores is "
                f"{format_score(round(fmean(scores), 2))}; leave it out or make them equal"
            )
        return given

    def to_item(self) -> ExamItem:
        """The record as the pipeline and the registry take it."""
        scores = self.human_scores or [self.human_score]
        return ExamItem(
            question=self.to_question(),
            answer=Answer(
                answer_id=self.answer_id,
                student_id=self.student_id,
                text=self.student_answer,
                attack_type=self.attack_type,
            ),
            human_scores=tuple(
                HumanScore(f"rater_{number}", score)
                for number, score in enumerate(scores, start=1)
                if score is not None
            ),
            split=self.split,
            dimensions=tuple(
                HumanDimension(rater, name, value)
                for rater, values in self.human_dimensions.items()
                for name, value in values.items()
            ),
        )
