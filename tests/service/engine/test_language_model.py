"""Readings behind a shared head must be those of each text read whole and on its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from service.engine.base import Role
from service.engine.language_model import LanguageModel, Reading
from service.model_store import ModelFiles, locate
from service.profile import load_profile
from service.prompts import Prompt, filter_prompt
from service.settings import Settings
from tests.service.exam_world import TCP_QUESTION as QUESTION
from tests.tiny_model import write_sliding_base

ANSWERS = ["TCP is reliable.", "", "It resends lost segments; UDP does not.", "是的 😀", "no " * 30]
NEAR = 1e-4


def tiny_gemma(folder: Path, profile_settings: Settings) -> LanguageModel:
    write_sliding_base(folder)
    profile = load_profile(profile_settings.profile, profile_settings)
    return LanguageModel(profile, ModelFiles(folder, "gemma", {}), "cpu")


@pytest.fixture(
    scope="module", params=["mistral", "gemma", pytest.param("smollm2", marks=pytest.mark.slow)]
)
def model(
    request: pytest.FixtureRequest,
    tiny_settings: Settings,
    tmp_path_factory: pytest.TempPathFactory,
) -> LanguageModel:
    if request.param == "gemma":
        return tiny_gemma(tmp_path_factory.mktemp("gemma"), tiny_settings)
    settings = tiny_settings
    if request.param == "smollm2":
        home = tmp_path_factory.mktemp("home")
        (home / "models").symlink_to(request.getfixturevalue("embedded_models"))
        settings = Settings(home=home)
    profile = load_profile(settings.profile, settings)
    return LanguageModel(profile, locate(profile, settings), "cpu")


def prompts(note: str = "") -> list[Prompt]:
    prompt = filter_prompt(QUESTION, "")
    return [Prompt(note + prompt.head, prompt.tail).with_answer(answer) for answer in ANSWERS]


def read(model: LanguageModel, asked: Sequence[Prompt], answers: Sequence[str]) -> list[Reading]:
    encoder = model.encoder
    return model.read(
        encoder.head_ids(asked[0]),
        [encoder.tail_ids(prompt) for prompt in asked],
        [encoder.plain_ids(answer, continues=True) for answer in answers],
    )


def check(model: LanguageModel, reading: Reading, prefix: list[int], text: list[int]) -> None:
    """The reading of `text` equals one pass over all tokens, without any cache."""
    scores = model.model(torch.tensor([[*prefix, *text]]), use_cache=False).logits[0]
    logs = scores[len(prefix) - 1 :].float().log_softmax(-1)
    end = logs[:, list(model.end_ids)].logsumexp(-1)
    actual = [float(log[token]) for log, token in zip(logs, text, strict=False)]
    assert reading.start == len(prefix)
    assert reading.actual == pytest.approx([*actual, float(end[-1])], abs=NEAR)
    assert reading.end == pytest.approx(end.tolist(), abs=NEAR)
    assert reading.top_log == pytest.approx(logs.max(-1).values.tolist(), abs=NEAR)
    assert reading.top == logs.argmax(-1).tolist()


def test_a_reading_is_that_of_the_whole_row_alone(model: LanguageModel) -> None:
    """For each role, whichever read the same head before, and for several heads in turn."""
    for role, note in [
        (Role.FILTER, ""),
        (Role.GRADE, ""),
        (None, ""),
        (Role.FILTER, "Take care. "),
        (Role.FILTER, ""),
    ]:
        asked = prompts(note)
        with model.as_role(role):
            readings = read(model, asked, ANSWERS)
            for prompt, answer, reading in zip(asked, ANSWERS, readings, strict=True):
                text = model.encoder.plain_ids(answer, continues=True)
                check(model, reading, model.encoder.prompt_ids(prompt), text)


def test_reading_on_is_reading_the_row_with_the_accepted_token(model: LanguageModel) -> None:
    asked = prompts()
    accepted, *texts = (model.encoder.plain_ids(text) for text in ("UDP", "is not.", "", "a b c"))
    with model.as_role(Role.FILTER):
        reading = read(model, asked, ANSWERS)[2]
        row = model.encoder.prompt_ids(asked[2])
        row += model.encoder.plain_ids(ANSWERS[2], continues=True)[:4]
        onward = model.read_on(reading, 4, accepted[0], texts)
        for text, ahead in zip(texts, onward, strict=True):
            check(model, ahead, [*row, accepted[0]], text)
        further = model.read_on(onward[2], 1, accepted[0], texts)
        for text, ahead in zip(texts, further, strict=True):
            check(model, ahead, [*row, accepted[0], texts[2][0], accepted[0]], text)


def test_marks_are_those_of_the_whole_row_alone(model: LanguageModel) -> None:
    asked = prompts()
    texts = [model.encoder.plain_ids(answer, continues=True) for answer in ANSWERS]
    tails = [model.encoder.tail_ids(prompt) for prompt in asked]
    stays, cut = model.encoder.mark_ids(Role.FILTER)
    assert stays != cut
    with model.as_role(Role.FILTER):
        marks = model.mark(Role.FILTER, model.encoder.head_ids(asked[0]), tails, texts)
        for prompt, text, odds in zip(asked, texts, marks, strict=True):
            row = [*model.encoder.prompt_ids(prompt), *text]
            logits = model.model(torch.tensor([row]), use_cache=False).logits[0]
            own = logits[len(row) - len(text) :].float()
            assert odds == pytest.approx((own[:, cut] - own[:, stays]).tolist(), abs=NEAR)


def test_a_head_is_read_once_for_each_adapter(
    tiny_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = load_profile(tiny_settings.profile, tiny_settings)
    model = LanguageModel(profile, locate(profile, tiny_settings), "cpu")
    forward = Mock(wraps=model.model.forward)
    monkeypatch.setattr(model.model, "forward", forward)
    for role in (Role.FILTER, Role.FILTER, Role.GRADE, Role.FILTER, Role.GRADE):
        with model.as_role(role):
            read(model, prompts(), ANSWERS)
    head = model.encoder.head_ids(prompts()[0])
    widths = [call.kwargs["input_ids"].shape[1] for call in forward.call_args_list]
    assert widths.count(len(head)) == 2
    assert len(widths) == 2 + 5
