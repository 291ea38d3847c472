"""A grade does not depend on what is graded beside it, nor on what was graded before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.engine.base import Engine, Role
from service.engine.language_model import LanguageModel
from service.engine.transformers_engine import TransformersEngine
from service.exam import Answer
from service.judgement import Judgement
from service.ledger import Ledger
from service.model_store import ModelFiles, locate
from service.pipeline import GradedAnswer, GradingPipeline
from service.profile import load_profile
from service.settings import Settings
from tests.service.exam_world import QUESTION, TCP_QUESTION, answer
from tests.tiny_model import write_restless_base

TEXTS = [
    "The Moon pulls the near side more.",
    "",
    "]éTCP\n-->near 😀moon é😀\nthe <!--é-->the moon TCP-->pull ]\n<!--😀a<!--a",
    "The Moon pulls the near side more.",
    "the a . the TCP is " * 8,
    "the a\u00ad . the TCP is " * 8,
    "a moon \n near moon TCP \n near near é --> a the <!-- ] moon The Moon pulls. --> ] moon is "
    "moon Waves. -->",
    "\n is is --> the <!-- TCP moon a 😀 a moon the ] é the \n The Moon pulls. --> <!-- a",
]
ITEMS = [
    (question, answer(text, f"{question.question_id}-{number}", f"s{number}"))
    for number, text in enumerate(TEXTS)
    for question in (QUESTION, TCP_QUESTION)
]

Grade = Callable[[Engine, Path], list[GradedAnswer]]


def in_one_batch(engine: Engine, path: Path) -> list[GradedAnswer]:  # noqa: ARG001
    return GradingPipeline(engine).grade_many(ITEMS)


def by_many_callers_at_once(engine: Engine, path: Path) -> list[GradedAnswer]:
    ledger = Ledger(path)
    pipeline = GradingPipeline(engine, ledger=ledger)
    with ThreadPoolExecutor(len(ITEMS) + 1) as pool:
        exam = pool.submit(pipeline.grade_many, ITEMS)
        single = list(pool.map(lambda item: pipeline.grade(*item), ITEMS))
        assert [one.filtered for one in exam.result()] == [one.filtered for one in single]
    ledger.close()
    return single


def again_for_others_after_a_restart(engine: Engine, path: Path) -> list[GradedAnswer]:
    for suffix in ("", "-again"):
        ledger = Ledger(path)
        graded = GradingPipeline(engine, ledger=ledger).grade_many(
            [(question, renamed(given, suffix)) for question, given in ITEMS]
        )
        ledger.close()
    assert {one.reused_from for each in graded for one in (each.baseline, each.filter)} == {"cache"}
    return graded


def renamed(given: Answer, suffix: str) -> Answer:
    return replace(given, answer_id=given.answer_id + suffix, student_id=given.student_id + suffix)


@pytest.fixture(scope="module", params=["write", "mark"])
def engine(
    request: pytest.FixtureRequest,
    tiny_settings: Settings,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Engine]:
    """A tiny random model that cuts a lot; its adapters write, or they mark."""
    profile = load_profile(tiny_settings.profile, tiny_settings)
    if request.param == "mark":
        profile = replace(
            profile, filter_decoding="mark", grade_decoding="mark", justification="none"
        )
    files = locate(profile, tiny_settings)
    encoder = LanguageModel(profile, replace(files, adapters={}), "cpu").encoder
    likely = [2, *encoder.plain_ids("the a . \n ] it is. TCP is <!-- -->", continues=True)]
    folder = tmp_path_factory.mktemp("restless") / "base"
    write_restless_base(folder, files.base_dir, [*likely, *encoder.mark_ids(Role.FILTER)])
    restless = ModelFiles(folder, "restless", files.adapters)
    engine = TransformersEngine(profile, restless, device="cpu", batch_size=8)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def one_by_one(engine: Engine) -> Sequence[GradedAnswer]:
    """Each answer graded alone, by a pipeline that knows of no other."""
    return [GradingPipeline(engine).grade(*item) for item in ITEMS]


def result(judgement: Judgement) -> tuple[Any, ...]:
    odds = judgement.score_probabilities
    return (
        judgement.prompt,
        judgement.raw_output,
        judgement.finish_reason,
        judgement.predicted_score,
        judgement.raw_score,
        judgement.score_source,
        judgement.justification,
        judgement.cleaned_answer,
        [(span.start, span.end, span.text) for span in judgement.removed_spans],
        judgement.filter_stable,
        odds and list(odds),
    )


@pytest.mark.parametrize(
    "grade", [in_one_batch, by_many_callers_at_once, again_for_others_after_a_restart]
)
def test_an_answer_gets_the_grade_that_it_gets_alone(
    grade: Grade, engine: Engine, one_by_one: Sequence[GradedAnswer], tmp_path: Path
) -> None:
    assert any(alone.removed_spans for alone in one_by_one)
    assert len({alone.final_score for alone in one_by_one}) > 1
    graded = grade(engine, tmp_path / "ledger.sqlite3")
    for alone, together in zip(one_by_one, graded, strict=True):
        for one, other in (
            (alone.baseline, together.baseline),
            (alone.filter, together.filter),
            (alone.filtered, together.filtered),
        ):
            assert result(one) == result(other)
            assert one.score_probabilities == pytest.approx(other.score_probabilities, abs=1e-4)
            assert [span.confidence for span in one.removed_spans] == pytest.approx(
                [span.confidence for span in other.removed_spans], abs=1e-4
            )
