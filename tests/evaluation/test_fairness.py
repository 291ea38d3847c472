"""Tables about honest answers, and the verdicts on use in a course."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.layout import Layout
from evaluation.scores import ScoreRow, Scores
from evaluation.tables import all_tables
from evaluation.tables.course_use import IN_ALL, VERDICTS, course_use_table
from evaluation.tables.fairness import audit_table, dimension_table, style_table
from service.exam import HumanDimension
from tests.evaluation.made_up import answer_rows

Spans = tuple[tuple[int, int], ...] | None


def rows(
    name: str,
    baseline: float,
    filtered: float,
    *,
    removed: Spans = (),
    styles: tuple[str, ...] = ("plain",),
    dimensions: tuple[HumanDimension, ...] = (),
    human: tuple[float, ...] = (5,),
    question: str = "q",
) -> list[ScoreRow]:
    scores = {"baseline": [baseline] * 5, "filtered": [filtered] * 5}
    return [
        replace(
            row,
            styles=styles,
            dimensions=dimensions,
            removed=removed if row.pipeline_variant == "filtered" else (),
        )
        for row in answer_rows(name, scores, human=human, question_id=question)
    ]


STYLED = Scores.of(
    [
        *rows("a", 5, 3, removed=((2, 4), (6, 9)), styles=("hedged", "terse")),
        *rows("b", 5, 5, styles=("terse",)),
        *rows("c", 5, 5, removed=None),
        *rows("d", 5, 5),
    ]
)


def test_styles_are_set_apart() -> None:
    table = style_table(STYLED, Layout())
    assert [row.labels for row in table.rows] == [
        ("exam", "all", "4"),
        ("exam", "hedged", "1"),
        ("exam", "terse", "2"),
        ("exam", "plain", "2"),
    ]
    untouched = "filtered: clean untouched [%]"
    everybody = table.estimate(("exam", "all", "4"), untouched)
    assert (everybody.value, everybody.n, everybody.missing) == (pytest.approx(200 / 3), 3, 1)
    assert table.estimate(("exam", "terse", "2"), untouched).value == 50
    assert table.estimate(("exam", "hedged", "1"), untouched).value == 0
    assert table.estimate(("exam", "terse", "2"), "filtered − baseline: clean score").value == -1


def test_benign_variants_have_a_column_of_their_own() -> None:
    table = style_table(STYLED, Layout(benign=("stealth", "role_play")))
    found = table.estimate(("exam", "terse", "2"), "filtered: benign untouched [%]")
    assert (found.value, found.n) == (50, 4)


def test_the_audit_names_every_span() -> None:
    table = audit_table(STYLED, Layout())
    [row] = table.rows
    assert row.labels == ("exam", "q", "a", "clean", "filtered")
    assert row.cells == ("2–4, 6–9", "5", "-2.00")


def test_dimensions_are_set_apart_at_their_median() -> None:
    def rated(*values: float) -> tuple[HumanDimension, ...]:
        return tuple(
            HumanDimension(f"r{number}", "clarity", value) for number, value in enumerate(values)
        )

    scores = Scores.of(
        [
            *rows("a", 5, 3, dimensions=rated(1, 3)),
            *rows("b", 5, 4, dimensions=rated(8)),
            *rows("c", 5, 5, dimensions=rated(9)),
            *rows("d", 5, 9),
        ]
    )
    table = dimension_table(scores, Layout())
    change = "filtered − baseline: clean score"
    low = table.estimate(("exam", "clarity", "below the median"), change)
    high = table.estimate(("exam", "clarity", "from the median on"), change)
    assert (low.value, low.n) == (-2, 1)
    assert (high.value, high.n) == (-0.5, 2)
    assert "by_dimension" in {table.name for table in all_tables(scores, [], Layout())}
    assert "by_dimension" not in {table.name for table in all_tables(STYLED, [], Layout())}


def verdicts(scores: Scores, pipeline: str) -> dict[str, str]:
    table = course_use_table(scores, Layout())
    return {row.labels[2]: str(row.cells[1]) for row in table.rows if row.labels[1] == pipeline}


def exam(answers: int, *, filtered_off: float = 0, human_off: float = 0) -> Scores:
    """Two people who agree, a baseline that agrees with them, ten questions."""
    return Scores.of(
        [
            row
            for number in range(answers)
            for truth in [1.0 + number % 9]
            for row in rows(
                f"a{number}",
                truth,
                truth + filtered_off,
                human=(truth, truth + human_off),
                question=f"q{number % 10}",
            )
        ]
    )


def test_a_grader_that_is_right_may_be_used() -> None:
    found = verdicts(exam(200), "filtered")
    assert set(found.values()) == {"yes"}
    assert found[IN_ALL] == "yes"


def test_one_bad_verdict_decides() -> None:
    found = verdicts(exam(200, filtered_off=1), "filtered")
    assert found["clean drift"] == "no"
    assert found["mean of score minus human score"] == "no"
    assert found[IN_ALL] == "no"
    assert verdicts(exam(200, filtered_off=1), "baseline")[IN_ALL] == "yes"
    assert "clean drift" not in verdicts(exam(200), "baseline")


@pytest.mark.parametrize(("answers", "verdict"), [(200, "yes"), (199, "with care"), (49, "no")])
def test_a_small_sample_shows_little(answers: int, verdict: str) -> None:
    assert verdicts(exam(answers), "baseline")["answers with a human score"] == verdict


def test_what_nobody_knows_is_no() -> None:
    unknown = Scores.of([replace(row, score=None, human_scores=()) for row in rows("a", 5, 5)])
    found = verdicts(unknown, "filtered")
    assert found["mean absolute error against people"] == "no"
    assert found["grades that are missing [%]"] == "no"
    assert set(found.values()) <= set(VERDICTS)


def test_every_verdict_comes_with_its_rule() -> None:
    table = course_use_table(exam(60, human_off=0.5), Layout())
    assert all(row.cells[2] for row in table.rows)
    agreement = table.cell(
        ("exam", "baseline", "agreement with people (quadratic weighted κ)"), "Rule"
    )
    assert "people with each other" in str(agreement)
