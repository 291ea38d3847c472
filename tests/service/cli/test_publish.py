"""`steadyeval publish` shows what it would do and does it only when told to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from service.cli.app import app
from service.errors import InputError, UnknownExamError
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from service.records import RunKind
from tests.service.exam_world import QUESTION, answer
from tests.service.scripted_engine import ScriptedEngine, score_line

ITEMS = [(QUESTION, answer(f"Tide {n}", f"a{n}", f"s{n}")) for n in range(2)]
WHO = ("--by", "Prof. Ebb", "--why", "end of term")


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Ledger]:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("STEADYEVAL_GRAPH", "none")
    monkeypatch.setenv("COLUMNS", "200")
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


def grade(ledger: Ledger, score: float) -> str:
    engine = ScriptedEngine(lambda _: score_line(score), name=f"model {score}")
    pipeline = GradingPipeline(engine, ledger=ledger)
    run = pipeline.new_run(RunKind.BATCH)
    pipeline.grade_many(ITEMS, run=run)
    return run.run_id


def publish(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["publish", *arguments])


def current(ledger: Ledger) -> list[float | None]:
    return [ledger.published_grades(f"a{n}")[-1].judgement.predicted_score for n in range(2)]


def test_without_a_yes_it_only_shows(ledger: Ledger) -> None:
    run = grade(ledger, 7)
    before = ledger.last_seq()
    shown = publish(run, *WHO)
    assert shown.exit_code == 1
    assert "2 answers get their first grade of record" in shown.output
    assert "nothing was changed" in shown.output
    assert ledger.last_seq() == before


def test_with_a_yes_it_moves_and_says_from_what_to_what(ledger: Ledger) -> None:
    first = publish(grade(ledger, 7), *WHO, "--yes")
    assert first.exit_code == 0, first.output
    assert current(ledger) == [7, 7]
    second = publish(grade(ledger, 9), *WHO, "--yes")
    assert current(ledger) == [9, 9]
    cells = [line.replace("│", " ").split() for line in second.output.splitlines()]
    assert ["Tides", "q1", "a0", "s0", "7", "9"] in [line[:6] for line in cells]
    assert "0 answers get their first grade of record, 2 another one, 0 keep theirs" in (
        second.output
    )
    [*_, newest] = ledger.published_grades("a0")
    assert newest.publication.published_by == "Prof. Ebb"
    assert newest.publication.reason == "end of term"


def test_publishing_what_counts_already_writes_nothing(ledger: Ledger) -> None:
    run = grade(ledger, 7)
    publish(run, *WHO, "--yes")
    before = ledger.last_seq()
    again = publish(run, *WHO)
    assert again.exit_code == 0
    assert "2 keep theirs" in again.output
    assert ledger.last_seq() == before


def test_a_grade_without_a_score_is_named_and_left_out(ledger: Ledger) -> None:
    publish(grade(ledger, 7), *WHO, "--yes")
    ran = publish(grade(ledger, 7.25), *WHO, "--yes")
    assert "no valid score, left as it is: exam 'Tides', answer 'a0'" in ran.output
    assert current(ledger) == [7, 7]


@pytest.mark.parametrize("who", [("--by", " ", "--why", "x"), ("--by", "x", "--why", "")])
def test_a_decision_has_a_name_and_a_reason(ledger: Ledger, who: tuple[str, ...]) -> None:
    ran = publish(grade(ledger, 7), *who, "--yes")
    assert isinstance(ran.exception, InputError)


@pytest.mark.usefixtures("ledger")
def test_an_unknown_run_is_refused() -> None:
    assert isinstance(publish("r", *WHO, "--yes").exception, UnknownExamError)


def test_without_a_ledger_none_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path))
    monkeypatch.setenv("STEADYEVAL_GRAPH", "none")
    assert isinstance(publish("r", *WHO, "--yes").exception, InputError)
    assert list(tmp_path.iterdir()) == []
