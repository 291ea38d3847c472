"""One mark is a score and the odds of all scores."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from service.engine.base import GradeRequest, Role
from service.engine.grading import ScoredCompletion
from service.engine.language_model import LanguageModel
from service.engine.rating import rate
from service.errors import PromptTooLongError
from service.exam import format_score
from service.model_store import locate
from service.profile import load_profile
from service.prompts import grading_prompt
from service.settings import Settings
from tests.service.exam_world import TCP_QUESTION as QUESTION

ANSWERS = ["TCP is reliable.", "", "It resends lost segments; UDP does not.", "是的 😀", "no " * 30]
CHOICES = tuple(map(format_score, QUESTION.scale.scores()))


@pytest.fixture(scope="module")
def model(tiny_settings: Settings) -> LanguageModel:
    profile = load_profile(tiny_settings.profile, tiny_settings)
    return LanguageModel(profile, locate(profile, tiny_settings), "cpu")


def request(answer: str, note: str = "") -> GradeRequest:
    question = replace(QUESTION, text=QUESTION.text + note)
    return GradeRequest(grading_prompt(question, answer, justify=False), CHOICES)


def rated(model: LanguageModel, requests: list[GradeRequest]) -> list[ScoredCompletion]:
    with model.as_role(Role.GRADE):
        found = rate(model, requests)
    return [each for each in found if isinstance(each, ScoredCompletion)]


def mean(scored: ScoredCompletion) -> float:
    return sum(float(score) * odds for score, odds in scored.choice_probabilities.items())


def test_the_mean_of_the_odds_is_where_the_mark_says(model: LanguageModel) -> None:
    no, yes = model.encoder.mark_ids(Role.GRADE)
    requests = [request(answer) for answer in ANSWERS]
    for asked, scored in zip(requests, rated(model, requests), strict=True):
        with model.as_role(Role.GRADE):
            logs = model.next_token(model.encoder.prompt_ids(asked.prompt))
        share = 1 / (1 + math.exp(float(logs[no] - logs[yes])))
        lowest, highest = float(CHOICES[0]), float(CHOICES[-1])
        expected = lowest + share * (highest - lowest)
        assert mean(scored) == pytest.approx(expected, abs=1e-3)
        assert sum(scored.choice_probabilities.values()) == pytest.approx(1)
        assert abs(float(scored.text.removeprefix("Answer: ")) - expected) <= 0.501
        assert scored.forced_choice is None


def test_an_answer_has_one_score_alone_and_beside_others(model: LanguageModel) -> None:
    requests = [request(answer, note) for note in ("", " Why?") for answer in ANSWERS]
    together = rated(model, requests)
    for asked, scored in zip(requests, together, strict=True):
        [alone] = rated(model, [asked])
        assert alone.text == scored.text
        assert mean(alone) == pytest.approx(mean(scored), abs=1e-3)


def test_a_prompt_that_does_not_fit_is_refused_and_the_others_are_not(
    model: LanguageModel,
) -> None:
    with model.as_role(Role.GRADE):
        fine, refused = rate(model, [request("yes"), request("no " * model.context)])
    assert isinstance(fine, ScoredCompletion)
    assert isinstance(refused, PromptTooLongError)


def test_no_requests_no_scores(model: LanguageModel) -> None:
    assert rated(model, []) == []
