"""`steadyeval train evaluate`, with an engine that cuts the paper's attacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from filter_training.attacks import PAPER_ATTACKS
from filter_training.folds import family_fold
from service.cli.app import app
from service.engine.base import Cut
from service.engine.factory import open_engine
from service.errors import InputError, SettingsError
from service.exam_file import read_exam
from service.resources import examples_dir
from service.settings import Settings
from tests.service.scripted_engine import ScriptedEngine

EXAM = examples_dir() / "exam.jsonl"


def cut_paper_attacks(raw: str) -> tuple[Cut, ...]:
    starts = [raw.find(f"\n{attack}") for attack in PAPER_ATTACKS.values()]
    return tuple(Cut(start, len(raw), 0.9) for start in starts if start >= 0)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedEngine:
    engine = ScriptedEngine(cut_by=cut_paper_attacks)
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: engine)
    return engine


def evaluate(*arguments: object) -> Result:
    return CliRunner().invoke(
        app, ["train", "evaluate", *(str(argument) for argument in arguments)]
    )


def test_all_numbers_stand_in_one_file(engine: ScriptedEngine, tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = evaluate(EXAM, "--sample", 4, "--rows", "clean,paper", "--out", out)
    assert ran.exit_code == 0, ran.output
    report = json.loads((out / "restoration.json").read_bytes())
    assert report["subject"]["filter_fingerprint"] == "scripted-filter"
    assert (report["subject"]["sample"], report["subject"]["seed"]) == (4, 1)
    assert set(report["versions"]) == {"steadyeval", "torch", "transformers", "peft"}
    assert list(report["exams"]) == ["exam.jsonl"]
    assert list(report["sets"]) == ["clean", "paper"]
    paper = report["sets"]["paper"]
    assert paper["all"]["measures"]["restored"] == {
        "count": 16, "of": 16, "share": 1.0, "low": 1.0, "high": 1.0
    }  # fmt: skip
    assert set(paper["by"]["kind"]) == set(PAPER_ATTACKS)
    assert {path.name for path in out.iterdir()} == {
        "restoration.json",
        "results.jsonl",
        "run.json",
        "worst.md",
    }
    assert engine.closed


def test_nothing_is_filtered_twice(engine: ScriptedEngine, tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(EXAM, "--sample", 4, "--rows", "clean", "--out", out)
    first, asked = (out / "restoration.json").read_bytes(), len(engine.filtered)
    evaluate(EXAM, "--sample", 4, "--rows", "clean", "--out", out)
    assert len(engine.filtered) == asked
    assert (out / "restoration.json").read_bytes() == first
    more = evaluate(EXAM, "--sample", 4, "--rows", "clean,benign", "--out", out)
    assert more.exit_code == 0, more.output
    assert len(engine.filtered) > asked
    assert set(json.loads((out / "restoration.json").read_bytes())["sets"]) == {"clean", "benign"}


@pytest.mark.usefixtures("engine")
def test_courses_count_alike_however_many_answers_they_have(tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    lines = EXAM.read_text(encoding="utf-8").splitlines()[:3]
    records = [json.dumps(json.loads(line) | {"dataset": "few"}) for line in lines]
    few.write_text("\n".join(records), encoding="utf-8")
    ran = evaluate(EXAM, few, "--sample", 6, "--rows", "clean", "--out", tmp_path / "run")
    assert ran.exit_code == 0, ran.output
    clean = json.loads((tmp_path / "run" / "restoration.json").read_bytes())["sets"]["clean"]
    counts = {name: group["texts"] for name, group in clean["by"]["course"].items()}
    assert counts == {"ML_intro": 2, "WEB_basics": 2, "few": 2}


@pytest.mark.usefixtures("engine")
def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    evaluate(EXAM, "--sample", 4, "--rows", "clean", "--out", tmp_path)
    ran = evaluate(EXAM, "--sample", 4, "--rows", "clean", "--seed", 2, "--out", tmp_path)
    assert isinstance(ran.exception, SettingsError)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "wrong", [("--rows", "clear"), ("--families", "poem"), ("--split", "train")]
)
def test_what_is_not_there_cannot_be_measured(tmp_path: Path, wrong: tuple[str, str]) -> None:
    exam = tmp_path / "exam.jsonl"
    lines = EXAM.read_text(encoding="utf-8").splitlines()
    records = [json.dumps(json.loads(line) | {"split": "test"}) for line in lines if line]
    exam.write_text("\n".join(records), encoding="utf-8")
    ran = evaluate(exam, *wrong, "--out", tmp_path / "run")
    assert isinstance(ran.exception, InputError)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("engine")
def test_the_folder_is_named_after_the_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = evaluate(EXAM, "--sample", 1, "--rows", "clean", "--profile", "some/where/mine")
    assert ran.exit_code == 0, ran.output
    [folder] = tmp_path.glob("restoration-mine-*")
    assert (folder / "restoration.json").exists()
    assert folder.name in ran.output


def test_every_row_runs_through_a_model(
    monkeypatch: pytest.MonkeyPatch, tiny_settings: Settings, tmp_path: Path
) -> None:
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: open_engine(tiny_settings))
    ran = evaluate(EXAM, "--sample", 1, "--out", tmp_path / "run")
    assert ran.exit_code == 0, ran.output
    report = json.loads((tmp_path / "run" / "restoration.json").read_bytes())
    assert set(report["sets"]) == {
        "clean",
        "benign",
        "hard_negative",
        "paper",
        "held_out",
        "families_seen",
        "families_held_out",
    }
    assert "texts" in ran.output


@pytest.mark.usefixtures("engine")
def test_the_families_that_a_fold_left_out_are_measured(tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ("--sample", 4, "--rows", "families", "--out", out)
    ran = evaluate(EXAM, *options, "--family-fold", 2)
    assert ran.exit_code == 0, ran.output
    sets = json.loads((out / "restoration.json").read_bytes())["sets"]
    assert set(sets["families_held_out"]["by"]["kind"]) == family_fold(2)
    both = evaluate(EXAM, *options, "--family-fold", 2, "--families", "plea")
    assert isinstance(both.exception, InputError)


@pytest.mark.usefixtures("engine")
def test_the_questions_that_a_fold_left_out_are_measured(tmp_path: Path) -> None:
    fold = ("--question-fold", 1, "--question-folds", 2, "--seed", 7)
    made = CliRunner().invoke(
        app,
        ["train", "dataset", str(EXAM), "--out", str(tmp_path / "data"), *map(str, fold)],
    )
    assert made.exit_code == 0, made.output
    card = json.loads((tmp_path / "data" / "card.json").read_bytes())
    ran = evaluate(EXAM, "--rows", "clean", "--out", tmp_path / "run", *fold)
    assert ran.exit_code == 0, ran.output
    questions = {
        (item.question.exam_id, item.answer.answer_id): item.question.question_id
        for item in read_exam(EXAM, max_answer_chars=20_000)
    }
    lines = (tmp_path / "run" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    keys = [(line["exam_id"], line["answer_id"]) for line in map(json.loads, lines)]
    measured = {(exam_id, questions[exam_id, answer_id]) for exam_id, answer_id in keys}
    assert {"/".join(key) for key in measured} == set(card["questions_left_out"])
    assert measured < {(exam_id, question) for (exam_id, _), question in questions.items()}
