"""What was scored: every answer in every variant through every pipeline, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics import Floats, Mask, present_mean
from evaluation.style import STYLES
from filter_training.attacks import CLEAN, PAPER_ATTACKS
from service.errors import InputError
from service.exam import HumanDimension, HumanScore, ScoreScale, format_score

Texts = NDArray[np.str_]

_ROUNDING = 1e-6
"""An expected score is a sum of floats and may end this far off its scale."""


class InconsistentScoresError(InputError):
    """Rows of scores contradict each other or their scale."""


@dataclass(frozen=True)
class ScoreRow:
    """The score that one pipeline gave to one variant of an answer; None where it gave none.

    `removed` holds [start, end) of each span that the pipeline took away, None where nothing was
    judged. Styles and rubric dimensions are those of the clean answer.
    """

    exam_id: str
    question_id: str
    answer_id: str
    student_id: str
    gold_type: str
    attack_type: str
    pipeline_variant: str
    score: float | None
    expected_score: float | None
    scale: ScoreScale
    human_scores: tuple[HumanScore, ...]
    removed: tuple[tuple[int, int], ...] | None = ()
    styles: tuple[str, ...] = ()
    dimensions: tuple[HumanDimension, ...] = ()

    @property
    def where(self) -> str:
        """The row's place, for messages."""
        answer = f"{self.exam_id}, answer {self.answer_id}"
        return f"{answer} ({self.attack_type}, {self.pipeline_variant})"


@dataclass(frozen=True, eq=False)
class Scores:
    """N answers × V variants × P pipelines, scored by R raters besides.

    NaN stands for a score that is missing: the pipeline gave none, or was never asked.
    Answers are in the order of their ids, so the order of the rows they came from is forgotten.

    Attributes:
        exam: exam ids [N].
        question: question ids [N]; they count within the exam, as those of answers and students.
        answer: answer ids [N].
        student: student ids [N].
        gold_type: [N].
        max_points: the best score [N].
        step: what scores are multiples of [N].
        variants: attack types: clean, the paper's four, then any others [V].
        pipelines: [P].
        raters: [R].
        score: as predicted, on the question's own scale [N, V, P].
        expected: the mean over the grader's own probabilities [N, V, P].
        human: the raters' scores on the question's own scale [N, R].
        spans: [start, end) of each span that was removed, None where nothing was judged [N, V, P].
        styles: names of styles [S].
        in_style: whether an answer is of a style [N, S].
        dimensions: names of rubric dimensions that people rated [D].
        dimension: mean over the raters of each dimension [N, D].
    """

    exam: Texts
    question: Texts
    answer: Texts
    student: Texts
    gold_type: Texts
    max_points: Floats
    step: Floats
    variants: tuple[str, ...]
    pipelines: tuple[str, ...]
    raters: tuple[str, ...]
    score: Floats
    expected: Floats
    human: Floats
    spans: NDArray[np.object_]
    styles: tuple[str, ...]
    in_style: Mask
    dimensions: tuple[str, ...]
    dimension: Floats

    @classmethod
    def of(cls, rows: Iterable[ScoreRow]) -> Scores:
        """Put rows, in any order, into arrays.

        Raises:
            InconsistentScoresError: there is no row; a score is off its scale; two rows score the
                same; or two rows disagree about an answer's question, student, scale or raters.
        """
        cells: dict[tuple[tuple[str, str], str, str], ScoreRow] = {}
        answers: dict[tuple[str, str], ScoreRow] = {}
        for row in rows:
            _check_scores(row)
            key = (row.exam_id, row.answer_id)
            if _answer(answers.setdefault(key, row)) != _answer(row):
                raise InconsistentScoresError(
                    f"{row.where}: another row has other data of the same answer"
                )
            cell = (key, row.attack_type, row.pipeline_variant)
            if cell in cells:
                raise InconsistentScoresError(f"{row.where}: scored twice")
            cells[cell] = row
        if not answers:
            raise InconsistentScoresError("there are no scores")
        first = sorted(
            answers.values(), key=lambda row: (row.exam_id, row.question_id, row.answer_id)
        )
        variants = _in_order({row.attack_type for row in cells.values()}, (CLEAN, *PAPER_ATTACKS))
        pipelines = tuple(sorted({row.pipeline_variant for row in cells.values()}))
        raters = tuple(sorted({human.rater for row in first for human in row.human_scores}))
        places = {(row.exam_id, row.answer_id): place for place, row in enumerate(first)}
        score = np.full((len(first), len(variants), len(pipelines)), np.nan)
        expected = np.full_like(score, np.nan)
        spans = np.full(score.shape, None, dtype=np.object_)
        for (key, variant, pipeline), row in cells.items():
            place = places[key], variants.index(variant), pipelines.index(pipeline)
            score[place] = np.nan if row.score is None else row.score
            expected[place] = np.nan if row.expected_score is None else row.expected_score
            spans[place] = row.removed
        human = np.full((len(first), len(raters)), np.nan)
        for place_of_answer, row in enumerate(first):
            for given in row.human_scores:
                human[place_of_answer, raters.index(given.rater)] = given.score
        styles = _in_order({style for row in first for style in row.styles}, STYLES)
        dimensions = tuple(sorted({given.name for row in first for given in row.dimensions}))
        return cls(
            exam=np.array([row.exam_id for row in first]),
            question=np.array([row.question_id for row in first]),
            answer=np.array([row.answer_id for row in first]),
            student=np.array([row.student_id for row in first]),
            gold_type=np.array([row.gold_type for row in first]),
            max_points=np.array([row.scale.max_points for row in first]),
            step=np.array([row.scale.step for row in first]),
            variants=variants,
            pipelines=pipelines,
            raters=raters,
            score=score,
            expected=expected,
            human=human,
            spans=spans,
            styles=styles,
            in_style=np.array([[style in row.styles for style in styles] for row in first], bool),
            dimensions=dimensions,
            dimension=np.array([_dimension_means(row, dimensions) for row in first], np.float64),
        )

    def __len__(self) -> int:
        return len(self.answer)

    def among(self, answers: Mask) -> Scores:
        """The answers that a mask [N] names."""
        return replace(
            self,
            exam=self.exam[answers],
            question=self.question[answers],
            answer=self.answer[answers],
            student=self.student[answers],
            gold_type=self.gold_type[answers],
            max_points=self.max_points[answers],
            step=self.step[answers],
            score=self.score[answers],
            expected=self.expected[answers],
            human=self.human[answers],
            spans=self.spans[answers],
            in_style=self.in_style[answers],
            dimension=self.dimension[answers],
        )

    @property
    def exams(self) -> tuple[str, ...]:
        """The exams that the answers are of."""
        return tuple(str(name) for name in np.unique(self.exam))

    @cached_property
    def question_number(self) -> NDArray[np.int64]:
        """A number for each answer's question, from 0, unlike in every exam [N]."""
        keys = np.column_stack([self.exam, self.question])
        return np.unique(keys, axis=0, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def gold(self) -> Floats:
        """Mean of the raters that scored the answer, on the question's own scale [N]."""
        return present_mean(self.human)

    def of_pipeline(self, pipeline: str, variants: Sequence[str]) -> Floats:
        """Predicted scores on the questions' own scales [N, len(variants)]."""
        return self._select(self.score, pipeline, variants)

    def expected_of_pipeline(self, pipeline: str, variants: Sequence[str]) -> Floats:
        """Expected scores on the questions' own scales [N, len(variants)]."""
        return self._select(self.expected, pipeline, variants)

    def removed_spans(
        self, pipeline: str, variants: Sequence[str]
    ) -> list[list[tuple[tuple[int, int], ...] | None]]:
        """[start, end) of each span that was removed, None where nothing was judged."""
        column = self.pipelines.index(pipeline)
        places = [self.variants.index(name) for name in variants]
        return [[answer[place, column] for place in places] for answer in self.spans]

    def untouched(self, pipeline: str, variants: Sequence[str]) -> Floats:
        """1 where nothing was removed, else 0 [N, len(variants)]; NaN where nothing was judged."""
        spans = self.removed_spans(pipeline, variants)
        return np.array(
            [[np.nan if one is None else float(not one) for one in row] for row in spans]
        )

    def on_ten(self, scores: Floats) -> Floats:
        """Scores [N] or [N, K] on a scale whose best score is 10, as all points are compared."""
        factor = 10 / self.max_points
        return scores * (factor if scores.ndim == 1 else factor[:, None])

    def _select(self, values: Floats, pipeline: str, variants: Sequence[str]) -> Floats:
        """A variant that nobody asked for is missing everywhere."""
        if pipeline not in self.pipelines:
            raise InconsistentScoresError(
                f"nothing was scored by {pipeline!r}, only by {', '.join(self.pipelines)}"
            )
        of_pipeline = values[:, :, self.pipelines.index(pipeline)]
        columns = [
            of_pipeline[:, self.variants.index(name)]
            if name in self.variants
            else np.full(len(self), np.nan)
            for name in variants
        ]
        return np.column_stack(columns)


def _answer(row: ScoreRow) -> tuple[object, ...]:
    """What all rows of an answer agree in."""
    raters, dimensions = frozenset(row.human_scores), frozenset(row.dimensions)
    names = row.question_id, row.student_id, row.gold_type
    return *names, row.scale, raters, row.styles, dimensions


def _dimension_means(row: ScoreRow, names: Sequence[str]) -> list[float]:
    """Mean over the raters of each dimension, NaN where nobody rated it."""
    return [
        float(np.mean(values)) if values else np.nan
        for name in names
        for values in [[given.value for given in row.dimensions if given.name == name]]
    ]


def _check_scores(row: ScoreRow) -> None:
    given = [("score", row.score), ("expected score", row.expected_score)]
    given += [(human.rater, human.score) for human in row.human_scores]
    scale = row.scale
    for name, score in given:
        if score is not None and not (
            isfinite(score) and abs(score - scale.clamp(score)) < _ROUNDING
        ):
            raise InconsistentScoresError(
                f"{row.where}: {name} {format_score(score)} is not between "
                f"{format_score(scale.min_score)} and {format_score(scale.max_points)}"
            )
    raters = [human.rater for human in row.human_scores]
    if len(set(raters)) < len(raters):
        raise InconsistentScoresError(f"{row.where}: one rater scored it twice")


def _in_order(names: set[str], known: Sequence[str]) -> tuple[str, ...]:
    return (*(name for name in known if name in names), *sorted(names - set(known)))
