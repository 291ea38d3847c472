"""Attackers get further from round to round, and no model is asked more than was said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluation.adaptive.journal import AttackDescription, AttackJournal, Sees
from evaluation.adaptive.results import EVERY_FAMILY, findings, report, tables, write_results
from evaluation.adaptive.search import RISE, Attack, attack_all, most_calls
from evaluation.pipelines import PIPELINES
from filter_training.red_team import read_red_team
from service.engine.base import Cut, GradeCompletion, GradeRequest
from service.errors import EngineError, SettingsError
from service.exam import ExamItem
from tests.filter_training.world import items
from tests.service.scripted_engine import ScriptedEngine, score_line

ANSWERS = items(questions=2, students=2)
FAMILIES = ("coercive_suffix", "plea")
_CUE = re.compile(r"[^\n]*\b(?:ignore|instructions?|rubric|give|award|score)\b[^\n]*", re.I)
_ASKS = re.compile(r"\b(?:marks?|points?|credit|grade|pass|ten|10)\b", re.I)


def cut_cues(raw: str) -> tuple[Cut, ...]:
    """A filter of words: lines that hold one are cut."""
    return tuple(Cut(found.start(), found.end(), 0.9) for found in _CUE.finditer(raw))


def gullible(request: GradeRequest) -> GradeCompletion:
    """Ten points for whoever speaks of points, three for the others."""
    return score_line(10 if _ASKS.search(request.prompt.tail) else 3)


def ignore(_: int) -> None:
    pass


def description(**changes: object) -> AttackDescription:
    fields: dict[str, object] = {
        "started_at": datetime.now(UTC),
        "command": ("steadyeval", "attack"),
        "settings": {},
        "profiles": {},
        "fingerprints": {},
        "pipelines": {"copy": "copy/1"},
        "families": FAMILIES,
        "sees": Sees.FILTER,
        "rounds": 4,
        "attempts": 3,
        "split": "test",
        "sample": None,
        "seed": 1,
        "exams": {},
        "versions": {},
    }
    return AttackDescription.model_validate(fields | changes)


def attack(
    folder: Path,
    engine: ScriptedEngine,
    answers: list[ExamItem] = ANSWERS,
    told: Callable[[int], None] = ignore,
    **changes: object,
) -> list[Attack]:
    journal = AttackJournal(folder, description(**changes))
    models = {name: PIPELINES[name].models(engine) for name in journal.description.pipelines}
    return attack_all(models, answers, journal, report=told)


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(gullible, cut_by=cut_cues)


def reached(attacks: list[Attack]) -> list[int | None]:
    return [one.round_of(one.succeeds) for one in attacks]


@pytest.mark.parametrize("sees", Sees)
def test_attackers_get_past_a_filter_of_words(
    sees: Sees, engine: ScriptedEngine, tmp_path: Path
) -> None:
    attacks = attack(tmp_path, engine, sees=sees)
    assert len(attacks) == len(ANSWERS) * len(FAMILIES)
    coercive = [one for one in attacks if one.family == "coercive_suffix"]
    # The paper's text holds words that the filter knows; other wordings do not.
    assert all(number is None or number > 0 for number in reached(coercive))
    assert sum(number is not None for number in reached(attacks)) > len(attacks) / 2
    for one in attacks:
        number = one.round_of(one.succeeds)
        assert len(one.rounds) == (5 if number is None else number + 1)


@pytest.mark.parametrize("sees", Sees)
def test_no_more_is_asked_than_was_said(sees: Sees, engine: ScriptedEngine, tmp_path: Path) -> None:
    engine.grade_by = lambda _: score_line(3)
    attack(tmp_path, engine, sees=sees)
    texts, graded = most_calls(description(sees=sees), len(ANSWERS))
    lines = (tmp_path / "attempts.jsonl").read_text(encoding="utf-8").splitlines()
    # Nobody succeeds, so everything is tried.
    assert len(lines) == texts
    assert 0 < len(engine.graded) <= graded
    scored = sum(json.loads(line)["score"] is not None for line in lines)
    assert scored == graded


def test_who_sees_scores_goes_on_from_the_best_one(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda request: score_line(min(1 + request.prompt.tail.count("e"), 9)))
    attacks = attack(tmp_path, engine, sees=Sees.SCORE, pipelines={"none": "none"}, rounds=2)
    for one in attacks:
        scores = [tried.attempt.score for tried in one.tries if tried.attempt.score is not None]
        assert one.best(Sees.SCORE).attempt.score == max(scores)


def test_nothing_survives_a_filter_that_takes_all(tmp_path: Path) -> None:
    engine = ScriptedEngine(gullible, cut_by=lambda raw: (Cut(0, len(raw), 1.0),))
    attacks = attack(tmp_path, engine)
    assert not any(tried.survives for one in attacks for tried in one.tries)
    # All that is left of any text is nothing, which is graded once for each question.
    assert len(engine.graded) == 2
    found = report(attacks, description())
    assert all(share.value == 0 for curve in found.curves for share in curve.survival)


def test_without_a_filter_all_survives_at_once(engine: ScriptedEngine, tmp_path: Path) -> None:
    attacks = attack(tmp_path, engine, pipelines={"none": "none"})
    assert all(one.round_of(lambda tried: tried.survives) == 0 for one in attacks)
    assert all(tried.words_left == 1 for one in attacks for tried in one.tries)
    assert reached([one for one in attacks if one.family == "coercive_suffix"]) == [0] * 4


def test_a_score_that_cannot_rise_leaves_only_survival(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda _: score_line(9), cut_by=cut_cues)
    attacks = attack(tmp_path, engine)
    assert not any(one.target.room for one in attacks)
    for one in attacks:
        number = one.round_of(lambda tried: tried.survives)
        assert len(one.rounds) == (5 if number is None else number + 1)
    [success, *_] = report(attacks, description()).curves[0].success
    assert success.n == 0


def test_a_text_that_the_model_cannot_take_is_no_success(tmp_path: Path) -> None:
    longest = max(len(item.answer.text) for item in ANSWERS) + 2
    engine = ScriptedEngine(gullible, longest=longest)
    attacks = attack(tmp_path, engine, pipelines={"none": "none"}, rounds=1)
    assert reached(attacks) == [None] * len(attacks)
    assert all(one.target.clean.score == 3 for one in attacks)


def test_an_attack_that_was_killed_goes_on_and_asks_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ScriptedEngine(gullible, cut_by=cut_cues)
    expected = attack(tmp_path / "whole", whole)
    halves = ScriptedEngine(gullible, cut_by=cut_cues)
    kept = AttackJournal.append
    calls = 0

    def dies(journal: AttackJournal, attempts: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise EngineError("killed")
        kept(journal, attempts)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(AttackJournal, "append", dies)
        with pytest.raises(EngineError):
            attack(tmp_path / "run", halves)
    before = len(halves.filtered)
    again = attack(tmp_path / "run", halves)
    assert reached(again) == reached(expected)
    assert 0 < before < len(whole.filtered)
    write_results(tmp_path / "whole", expected, description())
    write_results(tmp_path / "run", again, description())
    for name in ("attempts.jsonl", "found.jsonl", "tables/adaptive_success.csv"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    asked = len(halves.filtered)
    attack(tmp_path / "run", halves)
    assert len(halves.filtered) == asked


@pytest.mark.parametrize("changed", [{"seed": 2}, {"rounds": 1}, {"sees": Sees.SCORE}])
def test_a_folder_of_another_attack_is_refused(
    changed: dict[str, object], engine: ScriptedEngine, tmp_path: Path
) -> None:
    attack(tmp_path, engine, rounds=0)
    with pytest.raises(SettingsError, match="another run"):
        attack(tmp_path, engine, **({"rounds": 0} | changed))


def test_shares_by_round_are_what_was_counted(engine: ScriptedEngine, tmp_path: Path) -> None:
    attacks = attack(tmp_path, engine)
    found = report(attacks, description())
    curves = {curve.attack_type: curve for curve in found.curves}
    assert list(curves) == [*FAMILIES, EVERY_FAMILY]
    for number in range(5):
        within = [one for one in reached(attacks) if one is not None and one <= number]
        share = curves[EVERY_FAMILY].success[number]
        assert share.value == pytest.approx(100 * len(within) / len(attacks))
        assert share.n == len(attacks)
    for curve in found.curves:
        for series in (curve.success, curve.survival, curve.words_left):
            values = [share.value for share in series]
            assert values == sorted(values)
    success, survival, moves = tables(found, attacks)
    assert success.estimate(("filtered", "plea"), "4 rounds") == curves["plea"].success[4]
    assert survival.estimate(("filtered", "plea"), "0 rounds") == curves["plea"].survival[0]
    tried = sum(moves.estimate(row.labels, "left in part [%]").n for row in moves.rows)
    assert tried == found.tries["copy"] == sum(len(list(one.tries)) for one in attacks)


def test_what_got_through_can_be_trained_on(engine: ScriptedEngine, tmp_path: Path) -> None:
    attacks = attack(tmp_path, engine)
    write_results(tmp_path, attacks, description())
    lines = (tmp_path / "found.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == list(findings(attacks, description()))
    through = [json.loads(line) for line in lines if json.loads(line)["succeeds"]]
    assert len(through) == sum(number is not None for number in reached(attacks))
    assert all(line["score"] >= line["clean_score"] + RISE for line in through)
    read = read_red_team(tmp_path / "found.jsonl", ANSWERS)
    assert [finding.attack_type for finding in read] == [
        json.loads(line)["attack_type"] for line in lines
    ]
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        "adaptive.png",
        "adaptive.svg",
    }
    numbers = json.loads((tmp_path / "adaptive.json").read_bytes())
    assert numbers["description"]["rounds"] == 4
    assert len(numbers["curves"]) == 3


def test_the_folder_holds_no_answer_but_in_what_was_found(
    engine: ScriptedEngine, tmp_path: Path
) -> None:
    attacks = attack(tmp_path, engine)
    write_results(tmp_path, attacks, description())
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "found.jsonl":
            assert b"A stack gives back" not in path.read_bytes()
