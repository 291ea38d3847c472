from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from service.engine.base import CopyRequest, Engine, GradeRequest, Role
from service.engine.factory import open_engine
from service.engine.grading import complete_and_score
from service.engine.language_model import LanguageModel
from service.engine.transformers_engine import TransformersEngine
from service.errors import EngineError, ProfileError, PromptTooLongError
from service.filter import AnswerFilter
from service.judgement import FinishReason
from service.model_store import AdapterFiles, ModelFiles, locate
from service.profile import ModelProfile, load_profile
from service.prompts import filter_prompt, grading_prompt
from service.settings import Settings
from tests.service.exam_world import TCP_QUESTION as QUESTION
from tests.tiny_model import write_restless_base, write_sliding_base

CHOICES = tuple(str(score) for score in range(1, 11))
ANSWERS = [
    "TCP is reliable.",
    "",
    "No idea",
    "It numbers segments, acknowledges them and resends lost ones.\nUDP does not.",
    "是的 😀",
    "x " * 60,
    "A protocol",
    "Reliable, in order.",
]


def grade_request(answer: str) -> GradeRequest:
    return GradeRequest(grading_prompt(QUESTION, answer, justify=True), CHOICES)


def copy_request(answer: str) -> CopyRequest:
    return CopyRequest(filter_prompt(QUESTION, answer), answer)


@pytest.fixture(scope="module")
def profile(tiny_settings: Settings) -> ModelProfile:
    return load_profile(tiny_settings.profile, tiny_settings)


@pytest.fixture(scope="module")
def files(profile: ModelProfile, tiny_settings: Settings) -> ModelFiles:
    return locate(profile, tiny_settings)


@pytest.fixture(scope="module")
def model(profile: ModelProfile, files: ModelFiles) -> LanguageModel:
    return LanguageModel(profile, files, "cpu")


@pytest.fixture(scope="module")
def sliding_model(profile: ModelProfile, tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = tmp_path_factory.mktemp("sliding")
    write_sliding_base(folder)
    return LanguageModel(profile, ModelFiles(folder, "sliding", {}), "cpu")


def with_adapters(files: ModelFiles, *roles: Role) -> ModelFiles:
    adapters = {role: files.adapters[role] for role in roles}
    return ModelFiles(files.base_dir, files.base_hash, adapters)


def logits(model: LanguageModel, role: Role, answer: str) -> torch.Tensor:
    ids = model.encoder.prompt_ids(grading_prompt(QUESTION, answer, justify=True))
    with model.as_role(role):
        return model.model(torch.tensor([ids])).logits


def test_grading_after_filtering_equals_grading_without_the_filter_adapter(
    profile: ModelProfile, files: ModelFiles
) -> None:
    bare = LanguageModel(profile, with_adapters(files), "cpu")
    filtering = LanguageModel(profile, with_adapters(files, Role.FILTER), "cpu")
    filtered = logits(filtering, Role.FILTER, ANSWERS[0])
    graded = logits(filtering, Role.GRADE, ANSWERS[0])
    assert torch.equal(graded, logits(bare, Role.GRADE, ANSWERS[0]))
    assert not torch.allclose(filtered, graded, atol=0.1)


def test_two_adapters_on_one_base_do_not_touch_each_other(
    model: LanguageModel, profile: ModelProfile, files: ModelFiles
) -> None:
    for role in (Role.FILTER, Role.GRADE, Role.FILTER):
        alone = LanguageModel(profile, with_adapters(files, role), "cpu")
        assert torch.equal(logits(model, role, "hi"), logits(alone, role, "hi"))
    assert not torch.equal(logits(model, Role.FILTER, "hi"), logits(model, Role.GRADE, "hi"))


def test_an_answer_gets_the_same_score_alone_and_in_a_batch(tiny_engine: Engine) -> None:
    together = tiny_engine.grade([grade_request(answer) for answer in ANSWERS])
    for answer, batched in zip(ANSWERS, together, strict=True):
        [alone] = tiny_engine.grade([grade_request(answer)])
        assert alone.text == batched.text
        assert alone.finish_reason == batched.finish_reason
        assert alone.forced_choice == batched.forced_choice
        assert alone.choice_probabilities == pytest.approx(batched.choice_probabilities, abs=1e-5)


def test_a_text_gets_the_same_cuts_alone_and_in_a_batch(restless_engine: Engine) -> None:
    together = restless_engine.copy([copy_request(answer) for answer in ANSWERS])
    assert any(copied.cuts for copied in together)
    for answer, batched in zip(ANSWERS, together, strict=True):
        [alone] = restless_engine.copy([copy_request(answer)])
        assert [(cut.start, cut.end) for cut in alone.cuts] == [
            (cut.start, cut.end) for cut in batched.cuts
        ]
        assert alone.forward_passes == batched.forward_passes


def test_answers_to_several_questions_get_their_cuts_in_one_batch(restless_engine: Engine) -> None:
    other = replace(QUESTION, text="What does UDP leave to the application?")
    requests = [
        CopyRequest(filter_prompt(question, answer), answer)
        for answer in ANSWERS[3:7]
        for question in (QUESTION, other)
    ]
    together = restless_engine.copy(requests)
    assert any(copied.cuts for copied in together)
    for request, batched in zip(requests, together, strict=True):
        [alone] = restless_engine.copy([request])
        assert [(cut.start, cut.end) for cut in alone.cuts] == [
            (cut.start, cut.end) for cut in batched.cuts
        ]
        for cut, again in zip(alone.cuts, batched.cuts, strict=True):
            assert cut.confidence == pytest.approx(again.confidence, abs=1e-4)


class Dictated:
    """Lets the real model write, but only the tokens that it is told to."""

    def __init__(self, model: LanguageModel, texts: Sequence[str], *, ends: bool) -> None:
        self.ids = [model.encoder.plain_ids(text) for text in texts]
        self._end = [model.end_ids[0]] if ends else []
        self._generate = model.model.generate

    def __call__(self, **arguments: Any) -> Any:
        width = arguments["input_ids"].shape[1]

        def allowed(row: int, ids: torch.Tensor) -> list[int]:
            told = [*self.ids[row], *self._end, 0]
            return [told[min(len(ids) - width, len(told) - 1)]]

        return self._generate(**arguments, prefix_allowed_tokens_fn=allowed)


def naive_odds(
    model: LanguageModel, prompt: list[int], shown: str, *, continues: bool
) -> dict[str, float]:
    """Each choice read on its own, without a cache or a padded batch."""
    odds: dict[str, float] = {}
    for choice in CHOICES:
        behind = model.encoder.plain_ids(shown + choice, continues=continues)
        choice_length = len(behind) - len(model.encoder.plain_ids(shown, continues=continues))
        scores = model.model(torch.tensor([[*prompt, *behind]])).logits[0].log_softmax(-1)
        place = len(prompt) + len(behind) - 1
        total = scores[place, model.terminators].logsumexp(-1)
        for step in range(choice_length):
            total = total + scores[place - step - 1, behind[-step - 1]]
        odds[choice] = float(total.exp())
    return {choice: chance / sum(odds.values()) for choice, chance in odds.items()}


@pytest.mark.parametrize(
    ("texts", "shown", "forced", "ends"),
    [
        (
            ["Answer: 7", "Fine work.\nAnswer: 10"],
            ["Answer: ", "Fine work.\nAnswer: "],
            False,
            True,
        ),
        (["Answer: 7\nmore", "Answer: 3\n"], ["Answer: ", "Answer: "], False, True),
        (["Bad.\nAnswer: ten", "Answer: 1"], ["Bad.\nAnswer: ", "Answer: "], False, True),
        (
            ["No score here", "Nor here."],
            ["No score here\nAnswer: ", "Nor here.\nAnswer: "],
            True,
            True,
        ),
        (["", "Nothing"], ["Answer: ", "Nothing\nAnswer: "], True, True),
    ],
)
@pytest.mark.parametrize("kind", ["model", "sliding_model"])
def test_odds_are_those_of_whole_candidates_behind_the_cue(
    request: pytest.FixtureRequest,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    texts: list[str],
    shown: list[str],
    forced: bool,
    ends: bool,
) -> None:
    model: LanguageModel = request.getfixturevalue(kind)
    prompts = [
        model.encoder.prompt_ids(grading_prompt(QUESTION, answer, justify=True))
        for answer in ("short", "a longer answer that moves the padding")
    ]
    monkeypatch.setattr(model.model, "generate", Dictated(model, texts, ends=ends))
    with model.as_role(Role.GRADE):
        scored = complete_and_score(model, prompts, [CHOICES, CHOICES], 24)
        for prompt, before, text, completion in zip(prompts, shown, texts, scored, strict=True):
            expected = naive_odds(model, prompt, before, continues=not text)
            assert completion.choice_probabilities == pytest.approx(expected, rel=1e-3)
            likeliest = max(expected, key=expected.__getitem__)
            assert completion.forced_choice == (likeliest if forced else None)
            assert text.startswith(completion.text)
            assert completion.finish_reason is FinishReason.STOP


def test_a_completion_that_reaches_the_limit_says_so(tiny_engine: Engine) -> None:
    [completion] = tiny_engine.grade([grade_request("hi")])
    assert completion.finish_reason is FinishReason.LENGTH
    assert completion.forced_choice in CHOICES
    assert sum(completion.choice_probabilities.values()) == pytest.approx(1)


def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers(tiny_engine: Engine) -> None:
    with pytest.raises(PromptTooLongError, match=r"needs \d+ tokens but the model takes 4096"):
        tiny_engine.grade([grade_request("word " * 4000)])
    [copied] = tiny_engine.copy([copy_request("word " * 4000)])
    assert copied.forward_passes > 1


def test_fingerprints_tell_roles_and_dtypes_apart(
    tiny_engine: Engine, profile: ModelProfile, files: ModelFiles
) -> None:
    bare = LanguageModel(profile, with_adapters(files), "cpu")
    prints = [tiny_engine.fingerprint(role) for role in Role]
    assert len({*prints, bare.fingerprint(Role.GRADE)}) == 3
    assert bare.fingerprint(Role.GRADE) == bare.fingerprint(Role.FILTER)


def test_rewriting_uses_the_adapter_of_the_role(tiny_engine: Engine) -> None:
    prompt = filter_prompt(QUESTION, "hi")
    texts = [tiny_engine.rewrite([prompt], role=role)[0].text for role in Role]
    assert texts[0] != texts[1]


def test_a_filter_that_is_not_at_work_is_told_from_one_that_is(
    tiny_engine: Engine, profile: ModelProfile, files: ModelFiles
) -> None:
    """Not even an adapter of the grader may hide that the filter is the bare base."""
    prompt = filter_prompt(QUESTION, "hi")
    assert not tiny_engine.filter_is_base(prompt)
    grader_only = TransformersEngine(profile, with_adapters(files, Role.GRADE), device="cpu")
    assert grader_only.filter_is_base(prompt)
    grader_only.close()


def test_the_engine_says_how_long_a_grade_may_be(tiny_engine: Engine) -> None:
    assert tiny_engine.max_grade_tokens == 24


def test_the_rendered_prompt_shows_the_chat_template(tiny_engine: Engine) -> None:
    prompt = filter_prompt(QUESTION, "hi")
    assert tiny_engine.render(prompt) == f"<s> [INST] {prompt.text} [/INST]"


def change_adapter(folder: Path, to: Path, change: Any) -> AdapterFiles:
    copytree(folder, to)
    weights = load_file(to / "adapter_model.safetensors")
    save_file(
        {change(name): weight for name, weight in weights.items()}, to / "adapter_model.safetensors"
    )
    return AdapterFiles(to, "0" * 64)


def test_an_adapter_whose_layers_have_other_names_is_refused(
    profile: ModelProfile, files: ModelFiles, tmp_path: Path
) -> None:
    adapter = change_adapter(
        files.adapters[Role.FILTER].path,
        tmp_path / "other",
        lambda name: name.replace("self_attn", "attention"),
    )
    wrong = ModelFiles(files.base_dir, files.base_hash, {Role.FILTER: adapter})
    with pytest.raises(ProfileError, match="does not fit the base model"):
        LanguageModel(profile, wrong, "cpu")


def test_an_adapter_that_changes_nothing_is_refused(
    profile: ModelProfile, files: ModelFiles, tmp_path: Path
) -> None:
    folder = tmp_path / "blank"
    copytree(files.adapters[Role.FILTER].path, folder)
    weights = load_file(folder / "adapter_model.safetensors")
    blank = {name: weight * ("lora_A" in name) for name, weight in weights.items()}
    save_file(blank, folder / "adapter_model.safetensors")
    wrong = ModelFiles(files.base_dir, "", {Role.FILTER: AdapterFiles(folder, "1" * 64)})
    with pytest.raises(ProfileError, match="changes nothing"):
        LanguageModel(profile, wrong, "cpu")


def test_opening_and_running_a_model_prints_nothing(
    tiny_settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = open_engine(tiny_settings)
    engine.grade([grade_request("hi")])
    engine.copy([copy_request("hi")])
    engine.close()
    assert capfd.readouterr() == ("", "")


def test_a_closed_engine_refuses_calls(tiny_settings: Settings) -> None:
    engine = open_engine(tiny_settings)
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.grade([grade_request("hi")])


@pytest.fixture(scope="module", params=["copy", "mark"])
def restless_engine(
    request: pytest.FixtureRequest,
    profile: ModelProfile,
    files: ModelFiles,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Engine]:
    """A tiny random model that strongly wants now this, now that token of simple texts.

    Its marks are as strong.
    """
    folder = tmp_path_factory.mktemp("restless") / "base"
    encoder = LanguageModel(profile, with_adapters(files), "cpu").encoder
    likely = [2, *encoder.plain_ids("the a . \n ] it is. TCP is <!-- -->", continues=True)]
    write_restless_base(folder, files.base_dir, [*likely, *encoder.mark_ids(Role.FILTER)])
    restless = ModelFiles(folder, "restless", files.adapters)
    taught = replace(profile, filter_decoding=request.param)
    engine = TransformersEngine(taught, restless, device="cpu", batch_size=8)
    yield engine
    engine.close()


PIECES = st.sampled_from(["a", "the ", "TCP", ".", " ", "\n", "]", "<!--", "-->", "is", "é", "😀"])


@settings(max_examples=30)
@given(raw=st.lists(PIECES, max_size=24).map("".join))
def test_filtering_only_deletes_and_a_stable_answer_stays(
    restless_engine: Engine, raw: str
) -> None:
    answer_filter = AnswerFilter(restless_engine)
    [text] = answer_filter.clean([(QUESTION, raw)])
    rest, done = "", 0
    for span in text.removed:
        assert done <= span.start < span.end
        assert raw[span.start : span.end] == span.text
        rest, done = rest + raw[done : span.start], span.end
    assert rest + raw[done:] == text.cleaned
    if text.stable:
        [again] = answer_filter.clean([(QUESTION, text.cleaned)])
        assert (again.cleaned, again.removed) == (text.cleaned, ())
