"""Whatever the order of an exam, the model reads each question once for each of its roles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from service.cli import batch
from service.cli.grade import grade_items
from service.engine.prefix import HeadMemories, Memory
from service.engine.transformers_engine import TransformersEngine
from service.exam import ExamItem
from service.model_store import locate
from service.pipeline import GradedAnswer, GradingPipeline
from service.profile import load_profile
from service.settings import Settings
from tests.service.exam_world import answer, question

TWO_HEADS = 2**19
ITEMS = [
    ExamItem(
        replace(question(name), text=f"What is {name}?"),
        answer(f"It is {student}.", f"{name}-{student}", student),
        (),
    )
    for student in ("s1", "s2", "s3", "s4", "s5", "s6")
    for name in ("q1", "q2", "q3", "q4")
]


def through_the_command(engine: TransformersEngine, home: Path) -> list[GradedAnswer]:  # noqa: ARG001
    graded, _ = grade_items(ITEMS, Settings(home=home, graph="none"), Console(quiet=True))
    return graded


def from_python(engine: TransformersEngine, home: Path) -> list[GradedAnswer]:  # noqa: ARG001
    return GradingPipeline(engine).grade_many([(item.question, item.answer) for item in ITEMS])


@pytest.mark.parametrize("grade", [through_the_command, from_python])
def test_an_exam_by_student_reads_each_question_once_for_each_role(
    grade: Callable[[TransformersEngine, Path], list[GradedAnswer]],
    tiny_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[tuple[str | None, tuple[int, ...]]] = []
    sizes: list[int] = []

    class Counted(HeadMemories):
        def __init__(self) -> None:
            super().__init__(TWO_HEADS)

        def keep(self, adapter: str | None, head: Sequence[int], memory: Memory) -> None:
            super().keep(adapter, head, memory)
            read.append((adapter, tuple(head)))
            sizes.append(sum(keys.nbytes + values.nbytes for keys, values in memory))

    monkeypatch.setattr("service.engine.language_model.HeadMemories", Counted)
    monkeypatch.setattr("service.pipeline.check_canary", lambda _: None)
    monkeypatch.setattr(batch, "_PORTION", 4)
    profile = replace(
        load_profile(tiny_settings.profile, tiny_settings),
        filter_decoding="mark",
        grade_decoding="mark",
        justification="none",
    )
    engine = TransformersEngine(profile, locate(profile, tiny_settings), device="cpu")
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: engine)
    graded = grade(engine, tmp_path)
    engine.close()
    assert [one.submission.answer_id for one in graded] == [item.answer.answer_id for item in ITEMS]
    assert len(set(read)) == len(read) == 8
    assert 2 * max(sizes) <= TWO_HEADS < sum(sizes)
