from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.results import Asked, Ratio, Results, Row, faster, section
from tests.benchmarks.made_up import result

ROW = Row(case="clean", what="ours", unit="ms", samples=(3.0, 1.0, 1234.5))


def test_a_new_result_leaves_the_others(tmp_path: Path) -> None:
    assert Results.read(tmp_path) == Results()
    Results(benches={"a": result(ROW), "b": result(ROW, machine="an old machine")}).write(tmp_path)
    Results.read(tmp_path).having("a", result(ROW, machine="a new machine")).write(tmp_path)
    kept = Results.read(tmp_path).benches
    assert {name: each.machine for name, each in kept.items()} == {
        "a": "a new machine",
        "b": "an old machine",
    }
    tables = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert tables.index("a new machine") < tables.index("an old machine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["RESULTS.md", "results.json"]


def test_raw_numbers_are_kept_and_their_median_is_shown(tmp_path: Path) -> None:
    Results(benches={"a": result(ROW)}).write(tmp_path)
    assert Results.read(tmp_path).benches["a"].rows == (ROW,)
    assert "| clean | ours | 3 ms | 1 to 1,234 | 3 |  |" in (tmp_path / "RESULTS.md").read_text(
        encoding="utf-8"
    )


def test_words_on_a_result_stand_under_its_table(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("The limit is memory.\n", encoding="utf-8")
    Results(benches={name: result(ROW) for name in "ab"}).write(tmp_path)
    first, second = (tmp_path / "RESULTS.md").read_text(encoding="utf-8").split("## b:")
    assert "The limit is memory." in first
    assert "The limit is memory." not in second


@pytest.mark.parametrize(
    ("kind", "value", "verdict"),
    [
        ("at least", 4, "asked ≥ 4: met"),
        ("at least", 3.9, "asked ≥ 4: **missed**"),
        ("at most", 4, "asked ≤ 4: met"),
        ("at most", 4.1, "asked ≤ 4: **missed**"),
    ],
)
def test_what_was_asked_is_compared(kind: str, value: float, verdict: str) -> None:
    asked = Asked.model_validate({"kind": kind, "limit": 4})
    itself = ROW.model_copy(update={"samples": (value,), "asked": asked})
    ratio = Ratio(words="{} × that", value=value, asked=asked)
    compared = ROW.model_copy(update={"ratios": (ratio,)})
    assert verdict in section("a", result(itself))
    assert f"{value:.2f} × that, {verdict}" in section("a", result(compared))


def test_faster_compares_medians() -> None:
    ratio = faster((1, 2, 90), (10, 20, 90), "the peer", 10)
    assert (ratio.value, ratio.asked) == (10, Asked(kind="at least", limit=10))


def test_what_was_not_measured_is_named() -> None:
    assert "- **not measured**: no file" in section("a", result(ROW, skipped=("no file",)))
