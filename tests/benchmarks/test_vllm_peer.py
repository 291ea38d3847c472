from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.__main__ import _VLLM as ENVIRONMENT
from benchmarks.calls import PaperCalls
from benchmarks.plan import Plan
from benchmarks.subject import Subject, open_subject
from benchmarks.texts import Text, draw, one_in_five
from benchmarks.vllm_peer import Vllm, Wave, missing
from tests.benchmarks.made_up import items

HERE = missing(ENVIRONMENT)


def peer(subject: Subject, environment: Path) -> tuple[Vllm, PaperCalls]:
    model = subject.language_model()
    return Vllm(environment, subject, model.end_ids), PaperCalls(model.encoder)


def texts(count: int) -> tuple[Text, ...]:
    return draw(items(questions=1, answers=count), one_in_five, sample=0, whole=count).whole


def test_where_there_is_no_environment_one_is_told_how_to_make_it(tmp_path: Path) -> None:
    assert "`make vllm`" in (missing(tmp_path) or "")


def test_what_vllm_said_last_is_shown_where_it_fails(subject: Subject, tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    assert missing(tmp_path) is None
    vllm, calls = peer(subject, tmp_path)
    waves = [[calls.filter(text) for text in texts(1)]]
    with pytest.raises(RuntimeError, match="No module named 'vllm'"):
        vllm.write(waves, warm_up=waves)


@pytest.fixture
def embedded(
    embedded_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Subject]:
    """The embedded profile: vLLM has no attention for the small heads of the tiny one."""
    (tmp_path / "models").symlink_to(embedded_models)
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    plan = Plan(quick=True, profile="smollm2-135m", exams=tmp_path, vllm=ENVIRONMENT)
    with open_subject(plan) as subject:
        yield subject


@pytest.mark.slow
@pytest.mark.skipif(HERE is not None, reason=str(HERE))
def test_vllm_writes_what_is_asked_of_it_with_adapter_and_without(embedded: Subject) -> None:
    vllm, calls = peer(embedded.justifying(5).in_bfloat16(), ENVIRONMENT)
    answers = texts(6)
    waves: list[Wave] = [
        [calls.filter(text) for text in answers],
        [calls.justifications(text, 5)[0] for text in answers],
        [calls.scores(text)[1] for text in answers],
    ]
    run = vllm.write(waves, warm_up=waves)
    assert run.seconds > 0
    for wave, written in zip(waves, run.written, strict=True):
        assert all(0 < count <= call.tokens for call, count in zip(wave, written, strict=True))
    assert run.written[2] == [call.tokens for call in waves[2]]
    assert run.cached > 0
