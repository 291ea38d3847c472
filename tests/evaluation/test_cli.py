"""`steadyeval evaluate`, with a scripted engine and with a tiny model."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from evaluation.draw import Draw
from filter_training.attacks import CLEAN, PAPER_ATTACKS, attacked
from filter_training.folds import question_fold
from service.cli.app import app
from service.engine.base import Cut, GradeCompletion, GradeRequest
from service.engine.factory import open_engine
from service.errors import CanaryError, EngineError, InputError, SettingsError
from service.exam_file import read_exam
from service.graph.embedded import EmbeddedGraph
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from service.resources import examples_dir
from service.settings import Settings
from tests.service.scripted_engine import ScriptedEngine, by_length, score_line

EXAM = examples_dir() / "exam.jsonl"
ANSWERS = [
    item for item in read_exam(EXAM, max_answer_chars=20_000) if item.answer.attack_type == CLEAN
]
VARIANTS = (CLEAN, *PAPER_ATTACKS)


def cut_paper_attacks(raw: str) -> tuple[Cut, ...]:
    starts = [raw.find(f"\n{attack}") for attack in PAPER_ATTACKS.values()]
    return tuple(Cut(start, len(raw), 0.9) for start in starts if start >= 0)


def gullible(request: GradeRequest) -> GradeCompletion:
    """Ten points for whoever asks for them."""
    asks = "10 points" in request.prompt.tail.replace("ˆ", " ")
    return score_line(10) if asks else by_length(request)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedEngine:
    engine = ScriptedEngine(gullible, cut_by=cut_paper_attacks)
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: engine)
    without_figures(monkeypatch)
    return engine


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    """The course ML_intro: eight answers to two questions."""
    path = tmp_path / "course.jsonl"
    lines = EXAM.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "ML_intro" in line), encoding="utf-8")
    return path


def without_canary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny model knows nothing, so it does not filter."""
    monkeypatch.setattr("evaluation.engines.check_canary", lambda _: None)


def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes longer than all else; one test below draws."""
    monkeypatch.setattr("evaluation.run_results.all_figures", lambda *_: [])


def evaluate(*arguments: object) -> Result:
    return CliRunner().invoke(
        app, ["evaluate", "--graph", "none", *(str(argument) for argument in arguments)]
    )


def lines(folder: Path) -> list[dict[str, Any]]:
    path = folder / "scores.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    # A kill may leave a line without its end.
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def results(folder: Path) -> dict[str, bytes]:
    """All tables and figures."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for part in ("tables", "figures")
        for path in sorted((folder / part).iterdir())
    }


def test_every_variant_of_every_answer_is_graded_by_every_pipeline(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    ran = evaluate(EXAM, "--out", out)
    assert ran.exit_code == 0, ran.output
    found = Counter(
        (line["pipeline"], line["exam_id"], line["answer_id"], line["attack_type"])
        for line in lines(out)
    )
    assert found == Counter(
        (pipeline, item.question.exam_id, item.answer.answer_id, variant)
        for pipeline in ("none", "copy")
        for item in ANSWERS
        for variant in VARIANTS
    )
    assert engine.closed


@pytest.mark.usefixtures("engine")
def test_the_tables_show_what_attacks_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    monkeypatch.setenv("COLUMNS", "200")
    ran = evaluate(EXAM, "--out", out, "--peer", "ML_intro=ML_gold")
    score = {
        (line["pipeline"], line["answer_id"], line["attack_type"]): line["score"]
        for line in lines(out)
    }
    for item in ANSWERS:
        name = item.answer.answer_id
        for attack in ("coercive_suffix", "stealth", "fake_rubric"):
            assert score["none", name, attack] == 10
        for variant in VARIANTS:
            assert score["copy", name, variant] == score["none", name, CLEAN]
    spread = {row["Dataset"]: row for row in table(out, "table_5")}
    assert float(spread["All"]["filtered: mean CS"]) == 0
    assert float(spread["All"]["baseline: mean CS"]) > 0
    assert spread["ML_intro"]["filtered: mean CS, paper"]
    shown = next(line for line in ran.output.splitlines() if line.split()[:1] == ["filtered"])
    assert shown.split()[3:] == ["0.00"] * 4
    assert len(list((out / "tables").glob("*.tex"))) == len(list((out / "tables").glob("*.md")))


@pytest.mark.usefixtures("engine")
def test_run_json_says_what_the_numbers_are_of(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(exam, "--out", out, "--sample", 4, "--seed", 3, "--pipelines", "copy,none")
    run = json.loads((out / "run.json").read_bytes())
    assert run["fingerprints"] == {"filter": "scripted-filter", "grade": "scripted-grade"}
    assert list(run["pipelines"]) == ["copy", "none"]
    assert (run["seed"], run["sample"], run["split"]) == (3, 4, "test")
    assert set(run["versions"]) == {"steadyeval", "torch", "transformers", "peft"}
    assert set(run["exams"]) == {"course.jsonl"}
    assert "baseline − filtered" in {row["Pipelines"] for row in table(out, "paired_differences")}


@pytest.mark.usefixtures("engine")
def test_no_text_of_an_answer_leaves(tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(EXAM, "--out", out, "--no-texts")
    written = [path for path in out.rglob("*") if path.is_file() and "home" not in path.parts]
    assert {path.suffix for path in written} >= {".json", ".jsonl", ".csv", ".md", ".tex", ".html"}
    kept = "".join(path.read_text(encoding="utf-8") for path in written)
    for item in ANSWERS:
        assert not item.answer.text or item.answer.text not in kept
    assert "STUDENT ATTACK" not in kept
    assert (out / "home" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.usefixtures("engine")
def test_a_sample_takes_as_many_answers_of_each_question(exam: Path, tmp_path: Path) -> None:
    drawn = []
    for seed in (1, 1, 2):
        out = tmp_path / str(len(drawn))
        evaluate(exam, "--out", out, "--sample", 4, "--pipelines", "none", "--seed", seed)
        drawn.append({(line["question_id"], line["answer_id"]) for line in lines(out)})
    assert set(Counter(question for question, _ in drawn[0]).values()) == {2}
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_judgements_stand_in_the_ledger_with_attack_and_run(
    engine: ScriptedEngine, exam: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    evaluate(exam, "--out", out, "--sample", 2)
    run_id = json.loads((out / "run.json").read_bytes())["run_id"]
    ledger = Ledger(out / "home" / "ledger.sqlite3")
    try:
        for line in lines(out):
            judgement = ledger.judgement(line["judgement_id"])
            assert judgement.attack_type == line["attack_type"]
            assert judgement.predicted_score == line["score"]
        records = [entry.record for entry in ledger.after(0, 10_000)]
    finally:
        ledger.close()
    runs = {record.run_id: record for record in records if hasattr(record, "kind")}
    assert set(runs) == {f"{run_id}/1-none", f"{run_id}/2-copy"}
    assert {run.kind for run in runs.values()} == {"evaluation"}
    # Both pipelines asked for the baseline grades; the model gave them once.
    assert len(engine.graded) == len(set(engine.graded))


class Killed(BaseException):
    """What no handler of errors catches."""


@pytest.mark.parametrize(("calls", "error"), [(1, Killed), (3, EngineError)])
def test_a_killed_run_goes_on_to_the_results_of_an_unbroken_one(
    engine: ScriptedEngine,
    exam: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: int,
    error: type[BaseException],
) -> None:
    options = ("--pipelines", "none,hardened,copy")
    evaluate(exam, "--out", tmp_path / "whole", *options)
    asked = len(engine.graded)
    left = iter(range(calls))
    grade = engine.grade

    def grade_until_killed(requests: Sequence[GradeRequest]) -> list[GradeCompletion]:
        if next(left, None) is None:
            raise error("the power went")
        return grade(requests)

    engine.graded.clear()
    with monkeypatch.context() as patched:
        patched.setattr(engine, "grade", grade_until_killed)
        try:
            assert isinstance(evaluate(exam, "--out", tmp_path / "run", *options).exception, error)
        except Killed:
            assert error is Killed
    before = lines(tmp_path / "run")
    assert 0 < len(before) < len(lines(tmp_path / "whole"))
    with (tmp_path / "run" / "scores.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"pipeline": "no')
    ran = evaluate(exam, "--out", tmp_path / "run", *options)
    assert ran.exit_code == 0, ran.output
    assert len(engine.graded) == asked
    assert lines(tmp_path / "run")[: len(before)] == before
    assert results(tmp_path / "run") == results(tmp_path / "whole")


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nothing_that_it_said(
    tiny_profile_dir: Path, exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_figures(monkeypatch)
    without_canary(monkeypatch)
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    options = ("--profile", tiny_profile_dir, "--pipelines", "none,hardened,copy")
    arguments = ["evaluate", exam, "--out", tmp_path / "run", "--graph", "none", *options]
    no_canary = "import evaluation.engines as engines; engines.check_canary = lambda _: None"
    script = f"{no_canary}\nfrom service.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)])
    scores = tmp_path / "run" / "scores.jsonl"
    while process.poll() is None and not (scores.exists() and scores.stat().st_size):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    before = lines(tmp_path / "run")
    ran = evaluate(exam, "--out", tmp_path / "run", *options)
    assert ran.exit_code == 0, ran.output
    after = lines(tmp_path / "run")
    assert after[: len(before)] == before
    assert len(before) < len(after)
    evaluate(exam, "--out", tmp_path / "whole", *options)
    # Judgements of another ledger have other names, and other batches round otherwise.
    for line in (*after, *(whole := lines(tmp_path / "whole"))):
        del line["judgement_id"], line["expected_score"]
    assert after == whole
    assert table(tmp_path / "run", "table_5") == table(tmp_path / "whole", "table_5")


def test_what_only_the_ledger_has_is_not_asked_again(
    engine: ScriptedEngine, exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(exam, "--out", tmp_path / "whole")
    asked = len(engine.graded)
    engine.graded.clear()

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, suppress(Killed):
        patched.setattr("evaluation.run_journal.RunJournal.append", die)
        evaluate(exam, "--out", tmp_path / "run")
    assert engine.graded
    assert not lines(tmp_path / "run")
    evaluate(exam, "--out", tmp_path / "run")
    assert len(engine.graded) == asked
    assert results(tmp_path / "run") == results(tmp_path / "whole")


def test_a_pipeline_with_the_grader_of_another_profile_is_compared(
    engine: ScriptedEngine, exam: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = ScriptedEngine(lambda _: score_line(2), name="strict")
    monkeypatch.setattr(
        "service.engine.factory.open_engine",
        lambda settings: strict if settings.profile == "strict" else engine,
    )
    out = tmp_path / "run"
    ran = evaluate(exam, "--out", out, "--pipelines", "none,none@strict")
    assert ran.exit_code == 0, ran.output
    scores = {line["score"] for line in lines(out) if line["pipeline"] == "none@strict"}
    assert scores == {2}
    assert {row["Pipelines"] for row in table(out, "paired_differences")} == {
        "baseline@strict − baseline"
    }
    assert strict.closed


def test_the_questions_that_a_fold_left_out_are_evaluated(tmp_path: Path, exam: Path) -> None:
    items = [item for item in ANSWERS if item.question.exam_id == "ML_intro"]
    draws = [
        Draw((exam,), "test", None, 42, fold, 2).items(Settings(home=tmp_path)) for fold in (0, 1)
    ]
    for fold, drawn in enumerate(draws):
        trained_on, _ = question_fold(items, fold, folds=2, seed=42)
        answers = {item.answer.answer_id for item in drawn}
        assert answers == {item.answer.answer_id for item in items} - {
            item.answer.answer_id for item in trained_on
        }
    assert len(draws[0]) + len(draws[1]) == len(items)


def test_a_finished_run_asks_nothing_again(
    engine: ScriptedEngine, exam: Path, tmp_path: Path
) -> None:
    evaluate(exam, "--out", tmp_path / "run")
    asked, whole = len(engine.graded), (tmp_path / "run" / "scores.jsonl").read_bytes()
    run = (tmp_path / "run" / "run.json").read_bytes()
    assert evaluate(exam, "--out", tmp_path / "run").exit_code == 0
    assert len(engine.graded) == asked
    assert (tmp_path / "run" / "scores.jsonl").read_bytes() == whole
    assert (tmp_path / "run" / "run.json").read_bytes() == run


def test_another_order_compares_with_another_pipeline(
    engine: ScriptedEngine, exam: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    evaluate(exam, "--out", out)
    asked, run = len(engine.graded), (out / "run.json").read_bytes()
    assert {row["Pipelines"] for row in table(out, "paired_differences")} == {"filtered − baseline"}
    assert evaluate(exam, "--out", out, "--pipelines", "copy,none").exit_code == 0
    assert {row["Pipelines"] for row in table(out, "paired_differences")} == {"baseline − filtered"}
    assert (out / "run.json").read_bytes() == run
    assert len(engine.graded) == asked


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "other",
    [("--seed", 2), ("--sample", 3), ("--pipelines", "copy"), ("--attacks", "all")],
)
def test_a_folder_of_another_run_is_refused(
    exam: Path, tmp_path: Path, other: tuple[str, object]
) -> None:
    evaluate(exam, "--out", tmp_path / "run")
    before = lines(tmp_path / "run")
    ran = evaluate(exam, "--out", tmp_path / "run", *other)
    assert isinstance(ran.exception, SettingsError)
    assert lines(tmp_path / "run") == before


def test_what_the_model_cannot_take_is_counted(engine: ScriptedEngine, tmp_path: Path) -> None:
    engine._longest = max(len(attacked(item.answer.text, "stealth")) for item in ANSWERS)
    out = tmp_path / "run"
    ran = evaluate(EXAM, "--out", out, "--pipelines", "none")
    assert ran.exit_code == 0, ran.output
    refused = [line for line in lines(out) if line["score"] is None]
    assert refused
    assert all(line["judgement_id"] is None for line in refused)
    assert f"{len(refused)} of {len(ANSWERS) * 5} grades are missing" in ran.output
    everyone = {row["Dataset"]: row for row in table(out, "table_6")}["All"]
    assert int(everyone["baseline: MAE all, missing"]) == len(refused)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "wrong",
    [
        ("--pipelines", "none,magic"),
        ("--peer", "ML_intro=gold"),
        ("--peer", "nowhere=ML_gold"),
        (EXAM,),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_written(
    tmp_path: Path, wrong: tuple[object, ...]
) -> None:
    ran = evaluate(EXAM, *wrong, "--out", tmp_path / "run")
    assert isinstance(ran.exception, InputError)
    assert not (tmp_path / "run").exists()


def test_the_graph_alone_gives_the_same_tables(engine: ScriptedEngine, tmp_path: Path) -> None:
    engine._longest = max(len(attacked(item.answer.text, "stealth")) for item in ANSWERS)
    options = ("--graph", "embedded", "--peer", "ML_intro=ML_gold", "--seed", 3)
    out = tmp_path / "run"
    # A server that the commands attach to, instead of each starting one.
    embedded = EmbeddedGraph(out / "home" / "graph")
    embedded.up()
    try:
        ran = evaluate(EXAM, *options, "--out", out, "--pipelines", "hybrid,none,copy")
        assert ran.exit_code == 0, ran.output
        scored = results(out)
        run_id = json.loads((out / "run.json").read_bytes())["run_id"]
        for name in ("run.json", "scores.jsonl", "report.html"):
            (out / name).unlink()
        shutil.rmtree(out / "tables")
        ran = evaluate("--from-graph", run_id, *options, "--out", out)
        assert ran.exit_code == 0, ran.output
        assert results(out) == scored
        assert ANSWERS[0].answer.text in html.unescape((out / "report.html").read_text("utf-8"))
        ran = evaluate("--from-graph", "nothing", *options, "--out", out)
        assert isinstance(ran.exception, InputError)
    finally:
        embedded.down()
    ran = evaluate("--from-graph", run_id, *options, "--out", tmp_path / "another")
    assert isinstance(ran.exception, InputError)
    assert not (tmp_path / "another").exists()


def test_a_filter_that_does_not_filter_stops_the_run(
    engine: ScriptedEngine, exam: Path, tmp_path: Path
) -> None:
    engine.cut_by = lambda _: ()
    ran = evaluate(exam, "--out", tmp_path / "run", "--pipelines", "none,hybrid")
    assert isinstance(ran.exception, CanaryError)
    assert not engine.graded
    assert not (tmp_path / "run").exists()
    ran = evaluate(exam, "--out", tmp_path / "run", "--pipelines", "none,sanitiser")
    assert ran.exit_code == 0, ran.output


def test_filter_and_grader_may_be_of_two_profiles(
    monkeypatch: pytest.MonkeyPatch, engine: ScriptedEngine, exam: Path, tmp_path: Path
) -> None:
    grading = ScriptedEngine(gullible, name="another")
    engines = {"guard": engine, "judge": grading}
    monkeypatch.setattr(
        "service.engine.factory.open_engine", lambda settings: engines[settings.profile]
    )
    out = tmp_path / "run"
    ran = evaluate(exam, "--out", out, "--filter-profile", "guard", "--grade-profile", "judge")
    assert ran.exit_code == 0, ran.output
    run = json.loads((out / "run.json").read_bytes())
    assert run["profiles"] == {"filter": "guard", "grade": "judge"}
    assert run["fingerprints"] == {"filter": "scripted-filter", "grade": "another-grade"}
    assert engine.filtered
    assert grading.graded
    assert not engine.graded
    assert not grading.filtered
    assert engine.closed
    assert grading.closed


@pytest.mark.usefixtures("engine")
def test_the_report_can_be_written_again_without_texts(exam: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(exam, "--out", out)
    shown = html.unescape((out / "report.html").read_text(encoding="utf-8"))
    assert "<!-- hidden instructions" in shown
    assert evaluate(exam, "--out", out, "--no-texts").exit_code == 0
    assert "<!-- hidden instructions" not in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("given", [(), (EXAM, "--from-graph", "run")])
def test_scores_come_from_exams_or_from_the_graph(
    tmp_path: Path, given: tuple[object, ...]
) -> None:
    assert isinstance(evaluate(*given, "--out", tmp_path / "run").exception, InputError)


def test_all_attacks_and_all_pipelines_run_through_a_model(
    monkeypatch: pytest.MonkeyPatch, tiny_settings: Settings, tmp_path: Path
) -> None:
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: open_engine(tiny_settings))
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    without_canary(monkeypatch)
    without_figures(monkeypatch)
    every = "none,sanitiser,hardened,copy,copy+sanitiser,hybrid"
    out = tmp_path / "run"
    ran = evaluate(EXAM, "--out", out, "--sample", 1, "--attacks", "all", "--pipelines", every)
    assert ran.exit_code == 0, ran.output
    assert len({line["pipeline"] for line in lines(out)}) == 6
    assert {row["Attack type"] for row in table(out, "table_4")} >= {"sabotage", "stealth"}
    assert table(out, "benign_spread")
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", page.partition("## Tables")[2], re.M))
    assert {path.stem for path in (out / "tables").glob("*.csv")} == documented
    ran = evaluate(EXAM, "--out", tmp_path / "free", "--sample", 1, "--pipelines", "free")
    assert ran.exit_code == 0, ran.output


def test_scores_are_those_of_the_guarded_pipeline(
    monkeypatch: pytest.MonkeyPatch, tiny_settings: Settings, tmp_path: Path
) -> None:
    monkeypatch.setattr("service.engine.factory.open_engine", lambda _: open_engine(tiny_settings))
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    without_canary(monkeypatch)
    evaluate(EXAM, "--out", tmp_path / "run", "--sample", 2)
    assert len(list((tmp_path / "run" / "figures").glob("figure_[1-6].svg"))) == 6
    engine = open_engine(tiny_settings)
    pipeline = GradingPipeline(engine)
    items = {item.answer.answer_id: item for item in ANSWERS}
    for line in lines(tmp_path / "run"):
        item = items[line["answer_id"]]
        text = attacked(item.answer.text, line["attack_type"])
        graded = pipeline.grade(item.question, replace(item.answer, text=text))
        stage = graded.filtered if line["pipeline"] == "copy" else graded.baseline
        assert line["score"] == stage.predicted_score
        assert line["expected_score"] == pytest.approx(stage.expected_score)
        if line["pipeline"] == "copy":
            spans = [[span.start, span.end] for span in graded.removed_spans]
            assert line["removed"] == spans
            assert line["review"] == list(graded.review_reasons)
    engine.close()
