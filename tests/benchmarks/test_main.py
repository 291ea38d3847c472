from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from benchmarks.__main__ import main
from benchmarks.bench import NAMES
from benchmarks.results import Results, Row
from service.resources import examples_dir
from tests.benchmarks.made_up import result


def bench(*arguments: str | Path) -> Result:
    app = typer.Typer()
    app.command()(main)
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def exams(tmp_path: Path) -> Path:
    folder = tmp_path / "exams"
    folder.mkdir()
    for name in ("ML_nn", "CN_saf"):
        shutil.copy(examples_dir() / "exam.jsonl", folder / f"{name}.jsonl")
    return folder


def test_a_bench_that_there_is_not_is_refused() -> None:
    refused = bench("--quick", "--only", "filter,speed")
    assert refused.exit_code != 0
    assert "speed" in refused.output


def test_a_bench_that_found_nothing_to_measure_leaves_what_there_is(tmp_path: Path) -> None:
    row = Row(case="clean", what="ours", unit="ms", samples=(1.0,))
    before = Results(benches={"exam": result(row)})
    before.write(tmp_path)
    ran = bench("--quick", "--only", "exam", "--exams", tmp_path / "none", "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "not measured" in ran.output
    assert Results.read(tmp_path) == before


def test_a_bench_that_fails_does_not_cost_the_others(exams: Path, tmp_path: Path) -> None:
    none = tmp_path / "none"
    ran = bench("--quick", "--only", "exam,memory", "--profile", none / "profile", "--exams", exams)
    assert ran.exit_code == 1
    first, second = ran.output.split("memory …")
    assert "ProfileError" in first
    assert "ProfileError" in second


@pytest.mark.slow
def test_every_bench_runs_and_is_written_where_that_is_asked(exams: Path, tmp_path: Path) -> None:
    measured = set(NAMES) - {"vllm"}  # It cannot run the tiny model.
    out = tmp_path / "out"
    ran = bench("--quick", "--exams", exams, "--out", out)
    assert ran.exit_code == 0, ran.output
    kept = Results.read(out).benches
    assert set(kept) == measured
    assert all(each.rows for each in kept.values())
    tables = (out / "RESULTS.md").read_text(encoding="utf-8")
    assert all(f"## {name}:" in tables for name in measured)


def test_vllm_is_not_asked_to_run_the_tiny_model(exams: Path, tmp_path: Path) -> None:
    ran = bench("--quick", "--only", "vllm", "--exams", exams, "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "--profile" in ran.output
    assert not Results.read(tmp_path).benches


def test_without_an_environment_of_vllm_one_is_told_how_to_make_it(
    exams: Path, tmp_path: Path
) -> None:
    none = tmp_path / "none"
    ran = bench(
        "--quick", "--only", "vllm", "--profile", "smollm2-135m", "--exams", exams, "--vllm", none
    )
    assert ran.exit_code == 0, ran.output
    assert "`make vllm`" in ran.output
