"""`steadyeval attack`."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from filter_training.attacks import FAMILIES
from service.cli.app import app
from service.errors import InputError, SettingsError
from service.resources import examples_dir
from service.settings import Settings
from tests.evaluation.adaptive.test_search import cut_cues, gullible
from tests.service.scripted_engine import ScriptedEngine, score_line

EXAM = examples_dir() / "exam.jsonl"


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedEngine:
    """The product; the profile `strict` gives everybody one point."""
    product = ScriptedEngine(gullible, cut_by=cut_cues)
    strict = ScriptedEngine(lambda _: score_line(1), name="strict")

    def opened(settings: Settings) -> ScriptedEngine:
        return strict if settings.profile == "strict" else product

    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("service.engine.factory.open_engine", opened)
    return product


def attack(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["attack", *(str(argument) for argument in arguments)])


SMALL = ("--sample", 3, "--families", "coercive_suffix,plea", "--rounds", 2, "--attempts", 2)


def test_success_against_rounds_is_written(engine: ScriptedEngine, tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = attack(EXAM, "--out", out, *SMALL, "--pipelines", "none,copy")
    assert ran.exit_code == 0, ran.output
    # 2 pipelines: 3 clean answers and 6 attacks of 1 and 2 times 2 attempts, 1 and 2 graded.
    assert "12 attacks on 3 answers: at most 66 texts to filter and 42 to grade" in ran.output
    assert re.search(r"none: \d+ of \d+ attacks succeeded", ran.output)
    with (out / "tables" / "adaptive_survival.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["Pipeline"], row["Attack type"]): row for row in csv.DictReader(file)}
    assert set(rows) == {
        (pipeline, family)
        for pipeline in ("baseline", "filtered")
        for family in ("coercive_suffix", "plea", "all")
    }
    assert rows["baseline", "all"]["0 rounds"] == "100"
    assert rows["filtered", "coercive_suffix"]["0 rounds"] == "0"
    assert {path.name for path in out.iterdir()} == {
        "adaptive.json",
        "attempts.jsonl",
        "figures",
        "found.jsonl",
        "run.json",
        "tables",
    }
    assert engine.closed
    assert not (tmp_path / "home" / "ledger.sqlite3").exists()


def test_a_finished_attack_asks_nothing_again(engine: ScriptedEngine, tmp_path: Path) -> None:
    attack(EXAM, "--out", tmp_path / "run", *SMALL)
    attempts = (tmp_path / "run" / "attempts.jsonl").read_bytes()
    graded = len(engine.graded)
    assert attack(EXAM, "--out", tmp_path / "run", *SMALL).exit_code == 0
    assert len(engine.graded) == graded
    assert (tmp_path / "run" / "attempts.jsonl").read_bytes() == attempts


def test_the_grader_of_another_profile_is_attacked(tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = attack(EXAM, "--out", out, *SMALL, "--pipelines", "none,none@strict")
    assert ran.exit_code == 0, ran.output
    scores = {
        (line["pipeline"], line["score"])
        for line in map(json.loads, (out / "attempts.jsonl").read_text().splitlines())
        if line["score"] is not None
    }
    assert {score for pipeline, score in scores if pipeline == "none@strict"} == {1}
    assert {score for pipeline, score in scores if pipeline == "none"} == {3, 10}
    fingerprints = json.loads((out / "run.json").read_bytes())["fingerprints"]
    assert fingerprints["grade@strict"] == "strict-grade"


@pytest.mark.parametrize("wrong", [("--families", "magic"), ("--pipelines", "magic")])
def test_what_there_is_not_is_refused(wrong: tuple[str, str], tmp_path: Path) -> None:
    ran = attack(EXAM, "--out", tmp_path / "run", *wrong)
    assert isinstance(ran.exception, InputError)
    assert "magic" in str(ran.exception)
    assert not (tmp_path / "run").exists()


def test_a_folder_of_another_attack_is_refused(tmp_path: Path) -> None:
    attack(EXAM, "--out", tmp_path / "run", *SMALL)
    ran = attack(EXAM, "--out", tmp_path / "run", *SMALL, "--sees", "score")
    assert isinstance(ran.exception, SettingsError)


def test_all_families_are_attacked_where_none_is_named(tmp_path: Path) -> None:
    ran = attack(EXAM, "--out", tmp_path / "run", "--sample", 1, "--rounds", 0)
    assert ran.exit_code == 0, ran.output
    attempts = (tmp_path / "run" / "attempts.jsonl").read_text().splitlines()
    assert {json.loads(line)["family"] for line in attempts} == {"clean", *FAMILIES}
