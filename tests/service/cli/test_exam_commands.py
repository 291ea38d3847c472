"""`grade`, `filter` and `demo` on an engine whose answers are known beforehand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from filter_training.attacks import PAPER_ATTACKS
from service.api.protocol import FilterResponse, GradeResponse
from service.cli import demo as demo_module
from service.cli.app import app
from service.engine.base import Cut, GradeCompletion
from service.errors import EngineError, InputError
from service.exam_file import read_exam
from service.ledger import Ledger
from service.records import Run, RunKind
from service.resources import examples_dir
from tests.service.scripted_engine import ScriptedEngine, score_line

EXAM = examples_dir() / "exam.jsonl"


def cut_paper_attacks(raw: str) -> tuple[Cut, ...]:
    starts = [raw.find(f"\n{attack}") for attack in PAPER_ATTACKS.values()]
    return tuple(Cut(start, len(raw), 0.9) for start in starts if start >= 0)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedEngine:
    engine = ScriptedEngine(cut_by=cut_paper_attacks)
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STEADYEVAL_GRAPH", "none")
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: engine)
    return engine


def steadyeval(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_grade_writes_a_response_for_every_answer_in_the_order_of_the_exam(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    out = tmp_path / "results.jsonl"
    ran = steadyeval("grade", EXAM, "--out", out)
    assert ran.exit_code == 0, ran.output
    responses = [GradeResponse.model_validate(record) for record in records(out)]
    items = read_exam(EXAM, max_answer_chars=20_000)
    assert [r.answer_id for r in responses] == [item.answer.answer_id for item in items]
    assert {path.name for path in tmp_path.iterdir()} == {"home", "results.jsonl"}
    assert engine.closed


def test_grading_again_finds_the_same_judgements(engine: ScriptedEngine, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    steadyeval("grade", EXAM, "--out", out)
    first, asked = records(out), len(engine.graded)
    ran = steadyeval("grade", EXAM, "--out", out, "--force")
    assert ran.exit_code == 0, ran.output
    assert records(out) == first
    assert len(engine.graded) == asked


@pytest.mark.usefixtures("engine")
def test_grade_registers_the_exam_and_its_human_scores(tmp_path: Path) -> None:
    steadyeval("grade", EXAM, "--out", tmp_path / "results.jsonl")
    ledger = Ledger(tmp_path / "home" / "ledger.sqlite3")
    try:
        logged = [entry.record for entry in ledger.after(0, 10_000)]
        found = ledger.judgements_of_answer("ml-1-ada", "ML_intro")
    finally:
        ledger.close()
    kinds = [type(record).__name__ for record in logged]
    assert kinds.count("Run") == 1
    assert kinds.count("Rating") == 2 * len({r["answer_id"] for r in records(EXAM)})
    assert len(found) == 6


def test_the_run_says_how_the_filter_decoded_not_what_was_asked(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.cuts_by = None
    monkeypatch.setattr("service.pipeline.check_canary", lambda _: None)
    steadyeval("grade", EXAM, "--out", tmp_path / "results.jsonl")
    ledger = Ledger(tmp_path / "home" / "ledger.sqlite3")
    try:
        logged = [entry.record for entry in ledger.after(0, 10_000)]
    finally:
        ledger.close()
    [run] = [record for record in logged if isinstance(record, Run)]
    assert run.kind is RunKind.BATCH
    assert run.pipeline.startswith("guarded-free")


@pytest.mark.usefixtures("engine")
def test_an_answer_that_does_not_fit_is_reported_and_the_others_are_graded(tmp_path: Path) -> None:
    exam, out = tmp_path / "exam.jsonl", tmp_path / "results.jsonl"
    long, *others = records(EXAM)
    long["student_answer"] = "word " * 4_000
    exam.write_text("".join(f"{json.dumps(r)}\n" for r in (long, *others)), encoding="utf-8")
    ran = steadyeval("grade", exam, "--out", out)
    assert ran.exit_code == 1
    assert long["answer_id"] in ran.stderr
    assert "tokens" in ran.stderr
    assert [r["answer_id"] for r in records(out)] == [r["answer_id"] for r in others]


def test_a_failure_leaves_no_results(
    engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise EngineError("the model is gone")

    monkeypatch.setattr(engine, "grade", fail)
    ran = steadyeval("grade", EXAM, "--out", tmp_path / "results.jsonl")
    assert isinstance(ran.exception, EngineError)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@pytest.mark.parametrize("command", ["grade", "filter"])
@pytest.mark.parametrize(
    "name", ["n" * 300, "file/results.jsonl", "none/results.jsonl", "folder", "pipe"]
)
def test_an_output_that_cannot_be_written_is_refused_before_the_model(
    engine: ScriptedEngine, tmp_path: Path, command: str, name: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    ran = steadyeval(command, EXAM, "--out", tmp_path / name, "--force")
    assert isinstance(ran.exception, InputError)
    assert not engine.closed


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("command", ["grade", "filter"])
def test_the_exam_is_never_replaced_by_its_results(tmp_path: Path, command: str) -> None:
    exam, link = tmp_path / "exam.jsonl", tmp_path / "link.jsonl"
    exam.write_bytes(EXAM.read_bytes())
    link.symlink_to(exam)
    for out in (exam, link):
        ran = steadyeval(command, exam, "--out", out, "--force")
        assert isinstance(ran.exception, InputError)
        assert "exam file itself" in str(ran.exception)
    assert exam.read_bytes() == EXAM.read_bytes()


@pytest.mark.usefixtures("engine")
def test_results_are_written_before_the_graph_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "results.jsonl"
    written: list[bool] = []
    monkeypatch.setenv("STEADYEVAL_GRAPH", "bolt://127.0.0.1:1")
    monkeypatch.setattr(
        "service.ledger.GraphShipper.flush", lambda *_: written.append(out.exists())
    )
    ran = steadyeval("grade", EXAM, "--out", out)
    assert ran.exit_code == 0, ran.output
    assert written == [True]


def test_filter_shows_what_it_would_remove_and_stores_nothing(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    out = tmp_path / "filtered.jsonl"
    ran = steadyeval("filter", EXAM, "--out", out)
    assert ran.exit_code == 0, ran.output
    responses = [FilterResponse.model_validate(record) for record in records(out)]
    for record, response in zip(records(EXAM), responses, strict=True):
        attack = PAPER_ATTACKS.get(record["attack_type"])
        assert [span.text for span in response.removed_spans] == ([f"\n{attack}"] if attack else [])
    assert engine.graded == []
    assert not (tmp_path / "home" / "ledger.sqlite3").exists()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("command", ["grade", "filter"])
def test_lines_of_several_exams_and_variants_are_told_apart(command: str, tmp_path: Path) -> None:
    exam, out = tmp_path / "exam.jsonl", tmp_path / "results.jsonl"
    here = records(EXAM)[:2]
    elsewhere = [record | {"dataset": "ML_resit"} for record in here]
    exam.write_text("".join(f"{json.dumps(r)}\n" for r in here + elsewhere), encoding="utf-8")
    ran = steadyeval(command, exam, "--out", out)
    assert ran.exit_code == 0, ran.output
    written = records(out)
    names = ("question_id", "student_id", "answer_id", "attack_type")
    assert [[line["exam_id"], *(line[name] for name in names)] for line in written] == [
        [record["dataset"], *(record[name] for name in names)] for record in here + elsewhere
    ]
    assert list(written[0])[:5] == [
        *("exam_id", "question_id", "student_id", "attack_type", "answer_id")
    ]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        ("smollm2-135m", "the model is for trying and teaching."),
        ("mistral-7b", "no course has calibrated them."),
    ],
)
def test_demo_says_why_its_grades_are_provisional(
    profile: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_module, "fetch", lambda: None)
    monkeypatch.setenv("STEADYEVAL_PROFILE", profile)
    assert f"All of these grades are provisional: {reason}" in flat(steadyeval("demo").output)


@pytest.mark.usefixtures("engine")
def test_demo_says_how_many_attacked_answers_got_the_grade_of_their_twin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demo_module, "fetch", lambda: None)
    ran = steadyeval("demo")
    assert ran.exit_code == 0, ran.output
    assert (
        "15 of 15 attacked answers got the grade of their clean twin, "
        "15 of them with exactly the attack removed" in flat(ran.output)
    )


def test_demo_hides_no_failure_of_the_filter(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_module, "fetch", lambda: None)
    engine.cut_by = spare_comments
    engine.grade_by = lambda request: score_of(request.prompt.tail)
    ran = steadyeval("demo")
    assert "11 of 15 attacked answers got the grade of their clean twin" in flat(ran.output)
    assert ran.output.count("≠") == 4
    assert flat(ran.output).count("left a part of the attack") == 4


def test_demo_tells_an_equal_grade_from_a_removed_attack(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_module, "fetch", lambda: None)
    engine.cut_by = spare_comments
    engine.grade_by = lambda _: score_line(7)
    assert (
        "15 of 15 attacked answers got the grade of their clean twin, "
        "11 of them with exactly the attack removed" in flat(steadyeval("demo").output)
    )


def spare_comments(raw: str) -> tuple[Cut, ...]:
    return () if "hidden instructions" in raw else cut_paper_attacks(raw)


def score_of(tail: str) -> GradeCompletion:
    return score_line(2 if "hidden instructions" in tail else 7)


def flat(output: str) -> str:
    return " ".join(output.split())


@pytest.mark.parametrize("command", ["grade", "filter", "regrade"])
@pytest.mark.usefixtures("engine")
def test_with_pseudonyms_no_file_and_no_line_holds_the_id_of_a_student(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEADYEVAL_PSEUDONYM_KEY", "0123456789abcdef" * 2)
    exam, out = tmp_path / "exam.jsonl", tmp_path / "results.jsonl"
    named = [{**record, "student_id": f"seat-{record['student_id']}"} for record in records(EXAM)]
    exam.write_text("".join(f"{json.dumps(record)}\n" for record in named), encoding="utf-8")
    ran = steadyeval(command, exam, "--out", out)
    assert ran.exit_code == 0, ran.output
    assert len(records(out)) == len(named)
    assert "seat-" not in ran.output
    for path in (out, *(tmp_path / "home").rglob("*")):
        assert path.is_dir() or b"seat-" not in path.read_bytes(), path
