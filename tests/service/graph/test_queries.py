from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from service.graph import GraphStore
from service.graph.queries import Query, documented_queries
from service.judgement import FinishReason, RemovedSpan, ScoreSource
from service.pipeline import GradedAnswer
from service.records import Inclusion, Record
from tests.service.graph import sample


def ask(store: GraphStore, name: str, *columns: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of a documented query, of which only some columns matter."""
    query = Query.parse(documented_queries()[name].read_text(encoding="utf-8"))
    result = query.run(store, parameters)
    if not result.rows:
        return []
    places = [result.columns.index(column) for column in columns]
    return [tuple(row[place] for place in places) for row in result.rows]


@pytest.fixture
def graded(store: GraphStore) -> GraphStore:
    store.write(sample.records())
    return store


def test_why_this_grade(graded: GraphStore) -> None:
    columns = ("attack_type", "final_score", "baseline_score", "received", "removed", "graded")
    assert ask(graded, "why-this-grade", *columns) == [
        (
            "stealth",
            4.0,
            10.0,
            "The Moon pulls." + sample.ATTACK,
            [sample.ATTACK],
            "The Moon pulls.",
        ),
        ("clean", 4.0, 4.0, "The Moon pulls.", [], "The Moon pulls."),
    ]
    grounds = ("prompt", "justification", "model", "judgement_id")
    assert ask(graded, "why-this-grade", *grounds, exam_id="Tides", answer_id="a2") == [
        ("grade this: Wind?", "Fine.", "base", "sub-lost-filtered")
    ]
    assert ask(graded, "why-this-grade", "final_score", exam_id="Rivers", answer_id="a1") == []


def test_why_this_grade_pairs_a_grade_with_the_baseline_of_its_own_run(graded: GraphStore) -> None:
    received = sample.submission("sub-clean", "The Moon pulls.")
    later = [
        replace(judgement, judgement_id=f"{judgement.judgement_id}-2", based_on=based_on)
        for judgement, based_on in zip(
            sample.judgements(received, baseline=7, filtered=6, minutes=60),
            (None, None, "sub-clean-filter-2"),
            strict=True,
        )
    ]
    included = [Inclusion("run-2", judgement.judgement_id) for judgement in later]
    graded.write([replace(sample.RUN, run_id="run-2"), *later, *included])
    scores = ask(graded, "why-this-grade", "attack_type", "final_score", "baseline_score")
    assert scores == [("clean", 6.0, 7.0), ("stealth", 4.0, 10.0), ("clean", 4.0, 4.0)]


def test_a_judgement_found_again_by_a_second_run_is_one_row(graded: GraphStore) -> None:
    again: list[Record] = [replace(sample.RUN, run_id="run-2")]
    again += [
        Inclusion("run-2", f"sub-attacked-{stage}") for stage in ("baseline", "filter", "filtered")
    ]
    graded.write(again)
    assert len(ask(graded, "why-this-grade", "judgement_id")) == 2
    assert len(ask(graded, "raw-above-filtered", "judgement_id")) == 1


def test_raw_above_filtered(graded: GraphStore) -> None:
    columns = ("student_id", "baseline_score", "filtered_score", "difference", "removed")
    row = ("ana", 10.0, 4.0, 6.0, [sample.ATTACK])
    assert ask(graded, "raw-above-filtered", *columns) == [row]
    assert ask(graded, "raw-above-filtered", *columns, min_difference=6) == [row]
    assert ask(graded, "raw-above-filtered", *columns, min_difference=6.5) == []
    assert ask(graded, "raw-above-filtered", *columns, exam_id="Rivers") == []
    everyone = ask(graded, "raw-above-filtered", "difference", min_difference=0)
    assert everyone == [(6.0,), (0.0,)]


def test_removed_spans(graded: GraphStore) -> None:
    columns = ("exam_id", "answer_id", "attack_type", "start", "end", "text", "confidence")
    row = ("Tides", "a1", "stealth", 15, 32, sample.ATTACK, 0.75)
    assert ask(graded, "removed-spans", *columns) == [row]
    assert ask(graded, "removed-spans", *columns, exam_id="Tides") == [row]
    assert ask(graded, "removed-spans", *columns, max_confidence=0.5) == []


def test_why_this_grade_shows_nothing_of_a_later_rubric(graded: GraphStore) -> None:
    query = Query.parse(documented_queries()["why-this-grade"].read_text(encoding="utf-8"))
    before = query.run(graded, {"answer_id": "a1"})
    graded.write([replace(sample.QUESTION, text="Why are there tides?", gold_points=())])
    assert query.run(graded, {"answer_id": "a1"}) == before


def reviewed(
    text: str = "Wind!",
    *,
    score: float | None = 3,
    source: ScoreSource = ScoreSource.LINE,
    removed: tuple[RemovedSpan, ...] = (),
    **filter_result: Any,
) -> GradedAnswer:
    received = sample.submission("sub-reviewed", text, answer="a2", student="ben")
    baseline, filtering, filtered = sample.judgements(
        received, baseline=3, filtered=score, source=source, removed=removed
    )
    filtering = replace(filtering, **filter_result)
    return GradedAnswer(received, sample.QUESTION, baseline, filtering, filtered)


EVERYTHING = (RemovedSpan(0, 4, "Wind", 0.5),)


@pytest.mark.parametrize(
    "graded_answer",
    [
        reviewed(),
        reviewed(score=None, source=ScoreSource.NONE),
        reviewed(source=ScoreSource.FORCED),
        reviewed(filter_stable=False),
        reviewed(finish_reason=FinishReason.LENGTH),
        reviewed("Wind", removed=EVERYTHING),
        reviewed("Wind\n", removed=EVERYTHING),
        reviewed(" \n"),
        reviewed(
            "Wind",
            score=None,
            source=ScoreSource.NONE,
            removed=EVERYTHING,
            filter_stable=False,
            finish_reason=FinishReason.LENGTH,
        ),
    ],
    ids=lambda graded: "+".join(graded.review_reasons) or "none",
)
def test_needs_review_knows_every_reason_of_the_pipeline(
    store: GraphStore, graded_answer: GradedAnswer
) -> None:
    stages = (graded_answer.baseline, graded_answer.filter, graded_answer.filtered)
    store.write([sample.QUESTION, graded_answer.submission, *stages])
    reasons = list(graded_answer.review_reasons)
    expected = [("ben", reasons, "sub-reviewed-filtered")] if reasons else []
    assert ask(store, "needs-review", "student_id", "reasons", "judgement_id") == expected
    assert ask(store, "needs-review", "reasons", exam_id="Rivers") == []


def test_needs_review_finds_one_grade_among_many(graded: GraphStore) -> None:
    assert ask(graded, "needs-review", "student_id", "reasons", "predicted_score") == [
        ("ben", ["no_score"], None)
    ]


def test_scores_beside_humans(graded: GraphStore) -> None:
    columns = ("answer_id", "attack_type", "final_score", "raters", "human_scores", "human_mean")
    assert ask(graded, "scores-beside-humans", *columns, "difference") == [
        ("a1", "clean", 4.0, ["r1", "r2"], [5.0, 4.0], 4.5, -0.5),
        ("a1", "stealth", 4.0, ["r1", "r2"], [5.0, 4.0], 4.5, -0.5),
        ("a2", "clean", None, ["r1"], [1.0], 1.0, None),
    ]
    assert ask(graded, "scores-beside-humans", *columns, exam_id="Rivers") == []


@pytest.mark.parametrize("name", documented_queries())
def test_every_query_explains_itself_and_orders_its_rows(name: str) -> None:
    text = documented_queries()[name].read_text(encoding="utf-8")
    assert text.startswith("// ")
    assert "ORDER BY" in text
    query = Query.parse(text)
    assert set(re.findall(r"\$(\w+)", query.cypher)) == set(query.defaults)
