from __future__ import annotations

from dataclasses import replace

import pytest

from service.engine.base import Engine, GradeCompletion, GradeRequest
from service.errors import PromptTooLongError
from service.exam import ScoreScale
from service.grader import Grade, Grader
from service.judgement import FinishReason, ScoreSource
from tests.service.exam_world import QUESTION
from tests.service.scripted_engine import ScriptedEngine


def grade(
    text: str,
    *,
    finish: FinishReason = FinishReason.STOP,
    odds: dict[str, float] | None = None,
    forced: str | None = None,
    scale: ScoreScale = QUESTION.scale,
) -> Grade:
    completion = GradeCompletion(text, finish, odds, forced, 5.0)
    grader = Grader(ScriptedEngine(lambda _: completion))
    [result] = grader.grade([(replace(QUESTION, scale=scale), "The Moon pulls.")])
    return result


def test_the_last_line_binds_and_what_stands_before_it_justifies() -> None:
    result = grade("Answer: 3 would be harsh.\nNear side only.\nAnswer: 6\n")
    assert (result.predicted_score, result.raw_score) == (6.0, "6")
    assert result.score_source is ScoreSource.LINE
    assert result.justification == "Answer: 3 would be harsh.\nNear side only."


@pytest.mark.parametrize("value", ["7.5", "ten", "8/9", "A", ""])
def test_a_line_that_is_no_score_is_none_and_never_forced(value: str) -> None:
    result = grade(f"Answer: 4\nAnswer: {value}\n", odds={"4": 1.0}, forced="4")
    assert (result.predicted_score, result.raw_score) == (None, value)
    assert result.score_source is ScoreSource.NONE


def test_without_a_line_the_forced_choice_counts() -> None:
    result = grade("It names the near side.", odds={"6": 0.9, "10": 0.1}, forced="6")
    assert (result.predicted_score, result.raw_score) == (6.0, None)
    assert result.score_source is ScoreSource.FORCED
    assert result.justification == "It names the near side."


def test_without_a_line_and_a_forced_choice_there_is_no_score() -> None:
    result = grade("It names the near side.")
    assert (result.predicted_score, result.raw_score) == (None, None)
    assert result.score_source is ScoreSource.NONE


def test_a_score_that_the_token_limit_may_have_cut_is_no_score() -> None:
    cut_off = grade("Answer: 9\nOr rather\nAnswer: 1", finish=FinishReason.LENGTH)
    assert (cut_off.predicted_score, cut_off.score_source) == (None, ScoreSource.NONE)
    complete = grade("Answer: 1\nbecause", finish=FinishReason.LENGTH)
    assert (complete.predicted_score, complete.score_source) == (1.0, ScoreSource.LINE)


def test_a_score_off_the_range_is_clamped_and_its_raw_value_kept() -> None:
    result = grade("Answer: 0\n")
    assert (result.predicted_score, result.raw_score) == (1.0, "0")


def test_the_expected_score_weighs_every_score_by_its_probability() -> None:
    odds = {"0": 0.25, "0.5": 0.25, "1": 0.5}
    result = grade("Answer: 1\n", odds=odds, scale=ScoreScale(0, 1, 0.5))
    assert result.expected_score == pytest.approx(0.625)
    assert result.score_probabilities == odds
    assert grade("Answer: 1\n").expected_score is None


def test_the_limit_on_a_grade_is_part_of_how_it_was_decoded() -> None:
    engine = ScriptedEngine()
    engine.max_grade_tokens = 16
    assert Grader(engine).decoding == "greedy/16"


def test_the_engine_is_asked_for_the_scores_of_each_question() -> None:
    asked: list[GradeRequest] = []

    def note(request: GradeRequest) -> GradeCompletion:
        asked.append(request)
        return GradeCompletion("Answer: 1\n", FinishReason.STOP, None, None, 5.0)

    halves = replace(QUESTION, scale=ScoreScale(0, 1, 0.5))
    grader = Grader(ScriptedEngine(note))
    grader.grade([(halves, "one"), (QUESTION, "two")])
    assert [request.choices for request in asked] == [
        ("0", "0.5", "1"),
        tuple(str(score) for score in range(1, 11)),
    ]
    assert asked[1].prompt == grader.prompt(QUESTION, "two")


def test_a_prompt_that_is_too_long_is_refused_with_the_numbers() -> None:
    grader = Grader(ScriptedEngine(longest=50))
    with pytest.raises(PromptTooLongError, match=r"\d+ tokens but the model takes 50"):
        grader.grade([(QUESTION, "x" * 60)])


def test_a_real_model_always_says_where_its_score_comes_from(tiny_engine: Engine) -> None:
    texts = ["The Moon pulls.", "", "潮汐 🌊 Answer: 10"]
    for result in Grader(tiny_engine).grade([(QUESTION, text) for text in texts]):
        scores = {f"{score:g}": score for score in QUESTION.scale.scores()}
        assert (result.predicted_score is None) == (result.score_source is ScoreSource.NONE)
        assert result.predicted_score in {None, *scores.values()}
        assert result.score_probabilities is not None
        assert set(result.score_probabilities) == set(scores)
        assert sum(result.score_probabilities.values()) == pytest.approx(1)
        assert result.expected_score is not None
        assert 1 <= result.expected_score <= 10
