from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.judgement import Stage, judgement_id, result_key, salted_hash, submission_id
from tests.service.exam_world import judgements

REQUEST: dict[str, Any] = {
    "submission": "sub",
    "stage": Stage.FILTERED,
    "prompt": "grade this",
    "prompt_version": "1",
    "model_fingerprint": "model",
    "decoding": "greedy/16",
    "based_on": "filter-judgement",
}


def test_the_stages_are_named_as_in_the_paper() -> None:
    assert [(stage.value, stage.task_type, stage.pipeline_variant) for stage in Stage] == [
        ("baseline", "grading", "baseline"),
        ("filter", "filter_prompt", "filter_step"),
        ("filtered", "grading", "filtered"),
    ]


def test_an_id_is_the_same_in_every_release() -> None:
    # Changing either of these would orphan every record of every installation.
    assert submission_id(b"salt", "Tides", "a1", "clean", "The Moon pulls.") == (
        "be3880d7-936d-5c22-8fe2-64958790f8b3"
    )
    assert judgement_id(b"salt", **REQUEST) == "810047c6-0550-5563-bce8-d354f97a5c32"


@pytest.mark.parametrize(
    "change",
    [
        {"submission": "other"},
        {"stage": Stage.BASELINE},
        {"prompt": "grade this, please"},
        {"prompt_version": "2"},
        {"model_fingerprint": "other"},
        {"decoding": "greedy/256"},
        {"based_on": None},
    ],
)
def test_whatever_decides_a_result_is_in_its_id(change: dict[str, Any]) -> None:
    assert judgement_id(b"salt", **REQUEST) != judgement_id(b"salt", **{**REQUEST, **change})


RESULT: dict[str, Any] = {
    "stage": Stage.FILTER,
    "prompt": "clean this",
    "prompt_version": "1",
    "model_fingerprint": "model",
    "decoding": "mark/3",
}


@pytest.mark.parametrize(
    "change",
    [
        {"stage": Stage.BASELINE},
        {"prompt": "clean this, please"},
        {"prompt_version": "2"},
        {"model_fingerprint": "other"},
        {"decoding": "copy/3"},
    ],
)
def test_whatever_decides_a_result_is_in_its_key(change: dict[str, Any]) -> None:
    assert result_key("raw", **RESULT) != result_key("raw", **{**RESULT, **change})


def test_a_grade_is_decided_by_its_prompt_and_a_cut_by_the_text_too() -> None:
    assert result_key("raw", **RESULT) != result_key("r\u00adaw", **RESULT)
    baseline, filtered = ({**RESULT, "stage": stage} for stage in (Stage.BASELINE, Stage.FILTERED))
    assert result_key("raw", **baseline) == result_key("what is left of it", **filtered)


def test_a_judgement_knows_the_key_of_its_result() -> None:
    for judgement in judgements():
        assert judgement.result_key("raw") == result_key(
            "raw", **{name: getattr(judgement, name) for name in RESULT}
        )


def test_without_the_salt_an_id_cannot_be_made_again() -> None:
    assert judgement_id(b"salt", **REQUEST) != judgement_id(b"", **REQUEST)
    assert salted_hash(b"salt", "text") != salted_hash(b"pepper", "text")


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4),
)
def test_no_two_submissions_share_an_id(one: list[str], other: list[str]) -> None:
    same = submission_id(b"", *one) == submission_id(b"", *other)
    assert same == (one == other)


def test_moving_a_letter_from_one_part_to_the_next_changes_the_id() -> None:
    assert submission_id(b"", "ab", "c", "x", "t") != submission_id(b"", "a", "bc", "x", "t")
