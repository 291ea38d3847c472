"""The paper's own figures (Mistral-7B-Instruct-v0.2, its own two exams), as its tables print them.

Where a table lacks a figure that the text gives, it is that of the text. Two things are set right:
table 4 prints the interval of another figure behind the mean shift of stealth, so the one of
table 8 stands here; and section 3.6 gives the drift of clean scores as baseline minus guarded,
while here, as in all differences, it is guarded minus baseline. The pooled rows of tables 5 to 7
are not the means of the exams' rows weighted by their answers, and stand as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from service.judgement import Stage

BASELINE = Stage.BASELINE.pipeline_variant
GUARDED = Stage.FILTERED.pipeline_variant
ALL_ATTACKS = "all attacks"


class PaperExam(StrEnum):
    """The paper's exams."""

    ML_GOLD = "ML_gold"
    """Machine learning."""
    RC_GOLD = "RC_gold"
    """Computer networking, also CN."""
    ALL = "All"
    """Both pooled."""


@dataclass(frozen=True)
class PaperFigure:
    """A figure with its 95 % interval, where the paper gives one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PaperDistribution:
    """A row of table 3 or 5 for one pipeline; None where neither table nor text has the figure."""

    mean: PaperFigure
    sd: float
    median: float | None = None
    p25: float | None = None
    p75: float | None = None


@dataclass(frozen=True)
class PaperSuccess:
    """What an attack did to one pipeline; success in percent of all pairs."""

    shift: PaperFigure
    by_two: PaperFigure
    by_one: PaperFigure | None = None


@dataclass(frozen=True)
class PaperErrors:
    """A row of table 6 for one pipeline: mean absolute errors."""

    all: float
    clean: float
    attacks: float


@dataclass(frozen=True)
class PaperChiefPanel:
    """A row of table 7."""

    size: float
    error: PaperFigure
    bias: float


@dataclass(frozen=True)
class PaperExamSize:
    """A row of table 1."""

    students: int
    questions: int
    answers: int
    task_types: str
    rubric_fields: str


_RUBRIC_FIELDS = "Gold_answer; Gold_points; Banned_misconceptions"

EXAMS: Mapping[PaperExam, PaperExamSize] = MappingProxyType(
    {
        PaperExam.ML_GOLD: PaperExamSize(22, 10, 220, "argumentative, factual", _RUBRIC_FIELDS),
        PaperExam.RC_GOLD: PaperExamSize(26, 8, 208, "factual", _RUBRIC_FIELDS),
    }
)
"""Table 1, with the number of answers from section 2.3."""

SHIFT: Mapping[tuple[PaperExam, str], PaperDistribution] = MappingProxyType(
    {
        (PaperExam.ML_GOLD, BASELINE): PaperDistribution(
            PaperFigure(0.57, 0.11, 1.02), 4.29, 0.0, -2.0, 3.0
        ),
        (PaperExam.RC_GOLD, BASELINE): PaperDistribution(
            PaperFigure(1.95, 1.62, 2.28), 3.30, 2.0, 0.0, 4.0
        ),
        (PaperExam.ALL, BASELINE): PaperDistribution(
            PaperFigure(1.23, 0.94, 1.52), 3.90, 1.0, 0.0, 4.0
        ),
        (PaperExam.ML_GOLD, GUARDED): PaperDistribution(
            PaperFigure(-0.86, -1.35, -0.38), 4.56, -0.5, -5.0
        ),
        (PaperExam.RC_GOLD, GUARDED): PaperDistribution(
            PaperFigure(0.82, 0.46, 1.18), 3.39, p75=3.0
        ),
        (PaperExam.ALL, GUARDED): PaperDistribution(
            PaperFigure(-0.05, -0.37, 0.27), 4.12, 0.0, -2.5, 3.0
        ),
    }
)
"""Table 3; the guarded pipeline's median and quartiles from section 3.1."""

SPREAD: Mapping[tuple[PaperExam, str], PaperDistribution] = MappingProxyType(
    {
        (PaperExam.ML_GOLD, BASELINE): PaperDistribution(
            PaperFigure(4.90, 4.52, 5.28), 2.83, 5.0, 2.5, 7.0
        ),
        (PaperExam.RC_GOLD, BASELINE): PaperDistribution(
            PaperFigure(3.80, 3.42, 4.18), 2.75, 4.0, 2.0, 6.0
        ),
        (PaperExam.ALL, BASELINE): PaperDistribution(
            PaperFigure(4.18, 3.91, 4.45), 2.82, 4.0, 2.0, 6.0
        ),
        (PaperExam.ML_GOLD, GUARDED): PaperDistribution(
            PaperFigure(3.55, 3.16, 3.94), 2.91, 4.5, 0.5, 5.0
        ),
        (PaperExam.RC_GOLD, GUARDED): PaperDistribution(
            PaperFigure(4.53, 4.15, 4.91), 2.77, 4.5, 3.5, 7.0
        ),
        (PaperExam.ALL, GUARDED): PaperDistribution(
            PaperFigure(4.19, 3.92, 4.46), 2.85, 4.5, 1.5, 6.5
        ),
    }
)
"""Table 5."""

SUCCESS: Mapping[tuple[str, str], PaperSuccess] = MappingProxyType(
    {
        ("coercive_suffix", BASELINE): PaperSuccess(
            PaperFigure(1.15, 0.81, 1.48),
            PaperFigure(41.50, 36.85, 46.01),
            PaperFigure(51.41, 46.48, 55.87),
        ),
        ("fake_rubric", BASELINE): PaperSuccess(
            PaperFigure(2.15, 1.72, 2.56),
            PaperFigure(53.90, 49.17, 58.67),
            PaperFigure(59.86, 55.11, 64.61),
        ),
        ("role_play", BASELINE): PaperSuccess(
            PaperFigure(0.34, -0.02, 0.70),
            PaperFigure(33.20, 28.74, 37.62),
            PaperFigure(46.26, 41.59, 50.93),
        ),
        ("stealth", BASELINE): PaperSuccess(
            PaperFigure(1.31, 0.97, 1.65),
            PaperFigure(44.20, 39.49, 48.83),
            PaperFigure(50.70, 46.03, 55.37),
        ),
        ("coercive_suffix", GUARDED): PaperSuccess(
            PaperFigure(0.18, -0.22, 0.59),
            PaperFigure(35.90, 31.33, 40.48),
            PaperFigure(41.20, 36.39, 46.02),
        ),
        ("fake_rubric", GUARDED): PaperSuccess(
            PaperFigure(-0.39, -0.75, -0.01),
            PaperFigure(27.00, 22.75, 31.04),
            PaperFigure(28.67, 24.41, 32.94),
        ),
        ("role_play", GUARDED): PaperSuccess(
            PaperFigure(0.02, -0.36, 0.41),
            PaperFigure(34.70, 30.17, 39.19),
            PaperFigure(37.05, 32.54, 41.57),
        ),
        ("stealth", GUARDED): PaperSuccess(
            PaperFigure(0.00, -0.41, 0.40),
            PaperFigure(31.10, 26.84, 35.63),
            PaperFigure(36.82, 32.07, 41.33),
        ),
    }
)
"""Table 4, both exams pooled: attack and pipeline."""

ERRORS: Mapping[tuple[PaperExam, str], PaperErrors] = MappingProxyType(
    {
        (PaperExam.ML_GOLD, BASELINE): PaperErrors(2.15, 2.81, 2.00),
        (PaperExam.RC_GOLD, BASELINE): PaperErrors(2.28, 2.59, 2.21),
        (PaperExam.ALL, BASELINE): PaperErrors(2.23, 2.67, 2.14),
        (PaperExam.ML_GOLD, GUARDED): PaperErrors(2.22, 2.25, 2.21),
        (PaperExam.RC_GOLD, GUARDED): PaperErrors(3.02, 3.27, 2.96),
        (PaperExam.ALL, GUARDED): PaperErrors(2.74, 2.91, 2.70),
    }
)
"""Table 6."""

CHIEF_PANEL: Mapping[PaperExam, PaperChiefPanel] = MappingProxyType(
    {
        PaperExam.ML_GOLD: PaperChiefPanel(2.96, PaperFigure(1.90, 1.60, 2.17), -0.76),
        PaperExam.RC_GOLD: PaperChiefPanel(2.93, PaperFigure(2.65, 2.43, 2.85), -2.21),
        PaperExam.ALL: PaperChiefPanel(2.94, PaperFigure(2.38, 2.21, 2.57), -1.70),
    }
)
"""Table 7: chief is the guarded pipeline, panel the baseline and both raters."""

ABLATION: Mapping[tuple[PaperExam, str, str], PaperSuccess] = MappingProxyType(
    {
        (PaperExam.RC_GOLD, "coercive_suffix", BASELINE): PaperSuccess(
            PaperFigure(1.52, 1.14, 1.89), PaperFigure(46.60, 39.90, 53.37)
        ),
        (PaperExam.RC_GOLD, "coercive_suffix", GUARDED): PaperSuccess(
            PaperFigure(1.06, 0.55, 1.57), PaperFigure(42.80, 36.06, 49.52)
        ),
        (PaperExam.RC_GOLD, "fake_rubric", BASELINE): PaperSuccess(
            PaperFigure(3.40, 2.88, 3.93), PaperFigure(67.30, 61.06, 73.56)
        ),
        (PaperExam.RC_GOLD, "fake_rubric", GUARDED): PaperSuccess(
            PaperFigure(0.26, -0.13, 0.65), PaperFigure(26.90, 21.15, 33.17)
        ),
        (PaperExam.RC_GOLD, "role_play", BASELINE): PaperSuccess(
            PaperFigure(0.74, 0.32, 1.17), PaperFigure(33.70, 27.40, 40.38)
        ),
        (PaperExam.RC_GOLD, "role_play", GUARDED): PaperSuccess(
            PaperFigure(1.03, 0.58, 1.48), PaperFigure(40.90, 34.13, 47.60)
        ),
        (PaperExam.RC_GOLD, "stealth", BASELINE): PaperSuccess(
            PaperFigure(2.16, 1.79, 2.54), PaperFigure(51.00, 44.23, 57.69)
        ),
        (PaperExam.RC_GOLD, "stealth", GUARDED): PaperSuccess(
            PaperFigure(0.95, 0.46, 1.43), PaperFigure(38.50, 31.73, 45.19)
        ),
        (PaperExam.ML_GOLD, "coercive_suffix", BASELINE): PaperSuccess(
            PaperFigure(0.80, 0.27, 1.35), PaperFigure(36.40, 30.00, 42.73)
        ),
        (PaperExam.ML_GOLD, "coercive_suffix", GUARDED): PaperSuccess(
            PaperFigure(-0.63, -1.22, -0.03), PaperFigure(27.30, 21.36, 33.18)
        ),
        (PaperExam.ML_GOLD, "fake_rubric", BASELINE): PaperSuccess(
            PaperFigure(0.99, 0.41, 1.59), PaperFigure(39.50, 33.18, 45.91)
        ),
        (PaperExam.ML_GOLD, "fake_rubric", GUARDED): PaperSuccess(
            PaperFigure(-1.00, -1.59, -0.39), PaperFigure(26.40, 20.91, 32.27)
        ),
        (PaperExam.ML_GOLD, "role_play", BASELINE): PaperSuccess(
            PaperFigure(-0.04, -0.62, 0.54), PaperFigure(32.70, 26.82, 39.09)
        ),
        (PaperExam.ML_GOLD, "role_play", GUARDED): PaperSuccess(
            PaperFigure(-0.93, -1.56, -0.29), PaperFigure(27.70, 21.82, 33.64)
        ),
        (PaperExam.ML_GOLD, "stealth", BASELINE): PaperSuccess(
            PaperFigure(0.51, -0.03, 1.04), PaperFigure(37.70, 31.36, 44.09)
        ),
        (PaperExam.ML_GOLD, "stealth", GUARDED): PaperSuccess(
            PaperFigure(-0.90, -1.53, -0.28), PaperFigure(23.20, 17.73, 28.64)
        ),
        (PaperExam.ALL, "coercive_suffix", BASELINE): PaperSuccess(
            PaperFigure(1.15, 0.81, 1.47), PaperFigure(41.40, 36.68, 46.03)
        ),
        (PaperExam.ALL, "coercive_suffix", GUARDED): PaperSuccess(
            PaperFigure(0.18, -0.23, 0.58), PaperFigure(34.80, 30.37, 39.25)
        ),
        (PaperExam.ALL, "fake_rubric", BASELINE): PaperSuccess(
            PaperFigure(2.15, 1.74, 2.56), PaperFigure(53.00, 48.36, 57.71)
        ),
        (PaperExam.ALL, "fake_rubric", GUARDED): PaperSuccess(
            PaperFigure(-0.39, -0.76, -0.02), PaperFigure(26.60, 22.43, 30.84)
        ),
        (PaperExam.ALL, "role_play", BASELINE): PaperSuccess(
            PaperFigure(0.34, -0.03, 0.71), PaperFigure(33.20, 28.74, 37.62)
        ),
        (PaperExam.ALL, "role_play", GUARDED): PaperSuccess(
            PaperFigure(0.02, -0.38, 0.41), PaperFigure(34.10, 29.44, 38.55)
        ),
        (PaperExam.ALL, "stealth", BASELINE): PaperSuccess(
            PaperFigure(1.31, 0.97, 1.65), PaperFigure(44.20, 39.49, 48.60)
        ),
        (PaperExam.ALL, "stealth", GUARDED): PaperSuccess(
            PaperFigure(0.00, -0.42, 0.41), PaperFigure(30.60, 26.17, 35.05)
        ),
        (PaperExam.ALL, ALL_ATTACKS, BASELINE): PaperSuccess(
            PaperFigure(1.23, 1.05, 1.42), PaperFigure(42.90, 40.54, 45.21)
        ),
        (PaperExam.ALL, ALL_ATTACKS, GUARDED): PaperSuccess(
            PaperFigure(-0.05, -0.24, 0.15), PaperFigure(31.50, 29.38, 33.76)
        ),
    }
)
"""Table 8: exam, attack (or all attacks) and pipeline; it has no success at Δ ≥ 1."""

DRIFT: Mapping[PaperExam, float] = MappingProxyType(
    {PaperExam.ML_GOLD: -1.84, PaperExam.RC_GOLD: -0.62}
)
"""Section 3.6: guarded minus baseline on clean answers; the sign is inferred."""
