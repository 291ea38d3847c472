"""Table 1 of the paper: the exams."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evaluation.paper_numbers import EXAMS
from evaluation.scores import Scores
from evaluation.tables.table import Row, Table
from service.exam import Question


def exam_table(scores: Scores, questions: Iterable[Question]) -> Table:
    """Table 1: what was graded, with the paper's exams below.

    Args:
        scores: what was scored.
        questions: those of the exams, at least; they say which rubric fields there are.
    """
    known = list(questions)
    rows = []
    for exam in scores.exams:
        part = scores.among(scores.exam == exam)
        fields = _rubric_fields([one for one in known if one.exam_id == exam])
        counts = (len(np.unique(part.student)), len(np.unique(part.question)), len(part))
        types = ", ".join(np.unique(part.gold_type))
        rows.append(Row((exam, *map(str, counts), types, "; ".join(fields))))
    for name, theirs in EXAMS.items():
        counts = (theirs.students, theirs.questions, theirs.answers)
        labels = (f"{name} (paper)", *map(str, counts), theirs.task_types, theirs.rubric_fields)
        rows.append(Row(labels))
    return Table(
        name="table_1",
        caption="The exams, and those of the paper.",
        keys=("Dataset", "Students", "Questions", "Answers", "Task types", "Rubric fields"),
        columns=(),
        rows=tuple(rows),
    )


def _rubric_fields(questions: list[Question]) -> list[str]:
    fields = {
        "Gold_answer": any(question.gold_answer for question in questions),
        "Gold_points": any(question.gold_points for question in questions),
        "Banned_misconceptions": any(question.banned_misconceptions for question in questions),
    }
    return [field for field, used in fields.items() if used]
