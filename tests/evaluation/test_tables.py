"""The paper's tables of scores that are known by hand."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from evaluation.bootstrap import Estimate, Interval
from evaluation.metrics import absolute_error
from evaluation.paper_numbers import PaperExam, PaperFigure
from evaluation.scores import Scores
from evaluation.tables import (
    Cell,
    Column,
    Layout,
    Row,
    Table,
    all_tables,
    to_csv,
    to_latex,
    to_markdown,
    write_table,
)
from evaluation.tables.alignment import (
    agreement_table,
    chief_panel_table,
    error_table,
    gold_type_table,
)
from evaluation.tables.differences import difference_table
from evaluation.tables.overview import exam_table
from evaluation.tables.stability import (
    ablation_table,
    benign_spread_table,
    shift_table,
    spread_table,
    success_table,
    weighted_spread_table,
)
from service.exam import Criterion, Question, ScoreScale
from tests.evaluation.made_up import TEN, answer_rows, random_rows

ML = Scores.of(
    [
        *answer_rows(
            "a",
            {"baseline": [5, 7, 6, 5, 9], "filtered": [5, 5, 5, 5, 5]},
            human=[6, 8],
            exam_id="ml",
            question_id="q1",
            student_id="s1",
        ),
        *answer_rows(
            "b",
            {"baseline": [9, 9, 9, 10, None], "filtered": [8, 8, 8, 8, None]},
            human=[10, 10],
            exam_id="ml",
            question_id="q2",
            student_id="s1",
            gold_type="argumentative",
        ),
    ]
)
ONE = Layout(peers={"ml": PaperExam.ML_GOLD})


def paper(table: Table, labels: tuple[str, ...], column: str) -> PaperFigure | None:
    cell = table.cell(labels, column)
    assert isinstance(cell, Cell)
    return cell.paper


def test_table_1() -> None:
    questions = [
        Question("ml", "q1", "ml", "Why?", "So.", "", "factual", (Criterion("so", 10),), (), TEN),
        Question("other", "q1", "ml", "Why?", "So.", "", "factual", (), ("no",), TEN),
    ]
    table = exam_table(ML, questions)
    assert table.rows[0].labels == (
        *("ml", "1", "2", "2"),
        *("argumentative, factual", "Gold_answer; Gold_points"),
    )
    assert [one.labels[:4] for one in table.rows[1:]] == [
        ("ML_gold (paper)", "22", "10", "220"),
        ("RC_gold (paper)", "26", "8", "208"),
    ]


def test_table_3() -> None:
    table = shift_table(ML, ONE)
    mean = table.estimate(("ml",), "baseline: mean Δ")
    assert mean.value == pytest.approx(8 / 7)
    assert (mean.n, mean.missing) == (7, 1)
    assert table.estimate(("ml",), "baseline: median Δ").value == 1
    assert table.estimate(("ml",), "filtered: mean Δ") == Estimate(
        0, 7, 1, Interval(0, 0), Interval(0, 0)
    )
    assert paper(table, ("ml",), "baseline: mean Δ") == PaperFigure(0.57, 0.11, 1.02)
    assert paper(table, ("ml",), "filtered: P75 Δ") is None


def test_table_4() -> None:
    table = success_table(ML, ONE)
    labels = ("ml", "role_play")
    assert table.estimate(labels, "baseline: mean Δ").value == 4
    by_two = table.estimate(labels, "baseline: ASR (Δ ≥ 2, all) [%]")
    assert (by_two.value, by_two.n, by_two.missing) == (100, 1, 1)
    # The second answer already has the best score a person can give.
    eligible = table.estimate(labels, "baseline: ASR (Δ ≥ 2, eligible) [%]")
    assert (eligible.value, eligible.n, eligible.missing) == (100, 1, 0)
    labels = ("ml", "fake_rubric")
    assert table.estimate(labels, "baseline: ASR (Δ ≥ 1, all) [%]").value == 50
    assert table.estimate(labels, "baseline: ASR (Δ ≥ 1, eligible) [%]").value == 0
    theirs = paper(table, labels, "baseline: ASR (Δ ≥ 2, all) [%]")
    assert theirs == PaperFigure(39.50, 33.18, 45.91)


def test_tables_5_and_of_wcs() -> None:
    spread = spread_table(ML, ONE).estimate(("ml",), "baseline: mean CS")
    assert (spread.value, spread.n, spread.missing) == (4, 1, 1)
    weighted = weighted_spread_table(ML, ONE).estimate(("ml",), "baseline: mean WCS")
    assert (weighted.value, weighted.n, weighted.missing) == (7 / 4, 1, 1)


def test_table_6() -> None:
    table = error_table(ML, ONE)
    expected = {
        "baseline: MAE all": (2 + 0 + 1 + 2 + 2 + 1 + 1 + 1 + 0) / 9,
        "baseline: MAE clean": 1.5,
        "baseline: MAE attacks": (0 + 1 + 2 + 2 + 1 + 1 + 0) / 7,
        "filtered: MAE all": 2,
        "filtered: MAE clean": 2,
        "filtered: MAE attacks": 2,
    }
    for column, value in expected.items():
        assert table.estimate(("ml",), column).value == pytest.approx(value)
    assert table.estimate(("ml",), "filtered: MAE all").missing == 1
    assert paper(table, ("ml",), "filtered: MAE clean") == PaperFigure(2.25)


def test_table_7() -> None:
    table = chief_panel_table(ML, ONE)
    labels = ("ml", "filtered", "baseline, rater_1, rater_2")
    assert table.estimate(labels, "Mean panel size").value == 3
    # 5 beside the mean of 5, 6 and 8; 8 beside that of 9, 10 and 10.
    assert table.estimate(labels, "Chief-panel MAE").value == pytest.approx((4 / 3 + 5 / 3) / 2)
    assert table.estimate(labels, "Bias (chief − panel)").value == pytest.approx(-1.5)
    assert paper(table, labels, "Chief-panel MAE") == PaperFigure(1.90, 1.60, 2.17)
    people = ("ml", "filtered", "rater_1, rater_2")
    assert table.estimate(people, "Bias (chief − panel)").value == -2
    assert paper(table, people, "Chief-panel MAE") is None
    rater = ("ml", "rater_2", "rater_1")
    assert table.estimate(rater, "Bias (chief − panel)").value == 1
    assert [one.labels[1:] for one in table.rows] == [
        ("baseline", "rater_1, rater_2"),
        labels[1:],
        people[1:],
        ("rater_1", "baseline, rater_2"),
        ("rater_1", "rater_2"),
        ("rater_2", "baseline, rater_1"),
        rater[1:],
    ]


def test_table_8() -> None:
    table = ablation_table(ML, ONE)
    labels = ("ml", "all attacks")
    assert table.estimate(labels, "baseline: mean shift").value == pytest.approx(8 / 7)
    assert table.estimate(labels, "baseline: ASR (Δ ≥ 2, all) [%]").value == pytest.approx(200 / 7)
    assert table.estimate(labels, "baseline: ASR (Δ ≥ 2, eligible) [%]").value == 50
    assert table.estimate(labels, "filtered: ASR (Δ ≥ 2, all) [%]").value == 0
    theirs = paper(table, ("ml", "stealth"), "filtered: mean shift")
    assert theirs == PaperFigure(-0.90, -1.53, -0.28)


def test_errors_by_gold_type() -> None:
    table = gold_type_table(ML, ONE)
    factual, argumentative = ("ml", "factual"), ("ml", "argumentative")
    assert table.estimate(factual, "baseline: MAE").value == 2
    assert table.estimate(argumentative, "baseline: MAE").value == 1
    assert table.estimate(argumentative, "filtered: exact match [%]").value == 0
    assert table.estimate(factual, "filtered: MAE").n == 1


def test_paired_differences() -> None:
    table = difference_table(ML, ONE)
    labels = ("ml", "filtered − baseline", "clean drift")
    drift = table.estimate(labels, "Difference")
    assert (drift.value, drift.interval) == (-0.5, Interval(-1, 0))
    assert table.cell(labels, "Meaningful by pairs") == "no"
    assert paper(table, labels, "Difference") == PaperFigure(-1.84)
    error = ("ml", "filtered − baseline", "MAE clean")
    assert table.estimate(error, "Difference").value == 0.5
    assert paper(table, error, "Difference") == PaperFigure(-0.56)
    spread = ("ml", "filtered − baseline", "CS")
    assert table.estimate(spread, "Difference").value == -4
    assert table.cell(spread, "Meaningful by questions") == ""  # one question holds anything


def test_the_clean_answer_belongs_to_the_spread() -> None:
    scores = Scores.of(answer_rows("a", {"baseline": [3, 5, 6, 5, 9]}))
    table = spread_table(scores, Layout(pipelines=("baseline",)))
    assert table.estimate(("exam",), "baseline: mean CS").value == 6


def test_exact_matches_are_a_share_of_the_clean_answers() -> None:
    rows = [
        answer
        for name, score, human in (
            ("a", 8.0, [7, 8]),
            ("b", 8, [8]),
            ("c", 7, [7, 8]),
            ("d", 9, []),
        )
        for answer in answer_rows(name, {"baseline": [score] * 5}, human=human)
    ]
    table = gold_type_table(Scores.of(rows), Layout(pipelines=("baseline",)))
    match = table.estimate(("exam", "factual"), "baseline: exact match [%]")
    assert match.value == pytest.approx(200 / 3)
    assert (match.n, match.missing) == (3, 1)


def test_points_of_another_scale_count_as_points_of_ten() -> None:
    rows = answer_rows("a", {"baseline": [2, 3, 2, 2, 2]}, human=[4], scale=ScoreScale(0, 5))
    scores, layout = Scores.of(rows), Layout(pipelines=("baseline",))
    shifted = success_table(scores, layout)
    labels = ("exam", "coercive_suffix")
    assert shifted.estimate(labels, "baseline: mean Δ").value == 2
    assert shifted.estimate(labels, "baseline: ASR (Δ ≥ 2, eligible) [%]").value == 100
    assert error_table(scores, layout).estimate(("exam",), "baseline: MAE clean").value == 4
    chief = chief_panel_table(scores, layout)
    assert chief.estimate(("exam", "baseline", "rater_1"), "Bias (chief − panel)").value == -4


def test_few_questions_may_not_bear_out_what_pairs_say() -> None:
    """A point better in one question, in the other as good."""
    rows = [
        answer
        for number in range(20)
        for answer in answer_rows(
            f"a{number}",
            {"baseline": [5] * 5, "filtered": [5 + number % 2] * 5},
            human=[10],
            question_id=f"q{number % 2}",
        )
    ]
    table = difference_table(Scores.of(rows), Layout())
    labels = ("exam", "filtered − baseline", "MAE all")
    assert table.cell(labels, "Meaningful by pairs") == "yes"
    assert table.cell(labels, "Meaningful by questions") == "no"


def test_a_lasting_difference_is_meaningful() -> None:
    rows = [
        answer
        for number in range(6)
        for answer in answer_rows(
            f"a{number}",
            {"baseline": [9 - number] * 5, "filtered": [8 - number] * 5},
            human=[10],
            question_id=f"q{number % 2}",
        )
    ]
    table = difference_table(Scores.of(rows), Layout())
    labels = ("exam", "filtered − baseline", "MAE all")
    assert table.cell(labels, "Meaningful by pairs") == "yes"
    assert table.cell(labels, "Meaningful by questions") == "yes"


def test_agreement() -> None:
    rows = [
        answer
        for number, (score, first, second) in enumerate([(1, 2, 3), (4, 5, 6), (7, 8, 9)])
        for answer in answer_rows(
            f"a{number}", {"baseline": [score] * 5}, human=[first, second], question_id="q1"
        )
    ]
    table = agreement_table(Scores.of(rows), Layout(pipelines=("baseline",)))
    for labels in (
        ("exam", "baseline", "mean human score"),
        ("exam", "baseline, expected", "mean human score"),
        ("exam", "rater_1", "rater_2"),
    ):
        for column in table.columns[2:]:
            assert table.estimate(labels, column.title).value == pytest.approx(1)
    assert table.estimate(("exam", "rater_1", "rater_2"), "MAE").value == 1
    assert table.estimate(("exam", "baseline", "mean human score"), "MAE").value == 1.5


def test_scores_that_do_not_vary_have_no_correlation() -> None:
    rows = answer_rows("a", {"baseline": [5] * 5}, human=[5])
    table = agreement_table(Scores.of(rows), Layout(pipelines=("baseline",)))
    labels = ("exam", "baseline", "mean human score")
    assert np.isnan(table.estimate(labels, "Spearman within questions").value)
    nobody = answer_rows("a", {"baseline": [5] * 5})
    table = agreement_table(Scores.of(nobody), Layout(pipelines=("baseline",)))
    assert table.estimate(labels, "κ").missing == 1


def test_variants_that_keep_the_meaning_are_apart() -> None:
    layout = Layout(benign=("stealth",), attacks=("role_play",))
    spread = benign_spread_table(ML, layout).estimate(("ml",), "baseline: mean CS")
    assert (spread.value, spread.n) == (0.5, 2)


def test_further_attacks_have_rows_and_do_not_count_among_all() -> None:
    layout = Layout(attacks=("stealth",), further_attacks=("role_play",))
    table = ablation_table(ML, layout)
    assert table.estimate(("ml", "all attacks"), "baseline: mean shift").value == 0.5
    assert table.estimate(("ml", "role_play"), "baseline: mean shift").value == 4


TWO_EXAMS = [*random_rows(9, seed=1, exam_id="ml"), *random_rows(7, seed=2, exam_id="cn")]


def test_exams_are_pooled_by_pair() -> None:
    scores = Scores.of(TWO_EXAMS)
    table = error_table(scores, Layout(peers={"ml": PaperExam.ML_GOLD, "cn": PaperExam.RC_GOLD}))
    assert [one.labels for one in table.rows] == [("cn",), ("ml",), ("All",)]
    pooled = table.estimate(("All",), "baseline: MAE all")
    error = absolute_error(scores.of_pipeline("baseline", scores.variants), scores.gold)
    assert pooled.value == pytest.approx(np.nanmean(error))
    assert (pooled.n, pooled.missing) == (np.isfinite(error).sum(), np.isnan(error).sum())
    assert paper(table, ("All",), "baseline: MAE all") == PaperFigure(2.23)


def test_the_order_of_rows_changes_no_table() -> None:
    random = np.random.default_rng(3)
    shuffled = [TWO_EXAMS[place] for place in random.permutation(len(TWO_EXAMS))]
    layout = Layout(benign=("stealth",))
    one, other = (all_tables(Scores.of(rows), [], layout) for rows in (TWO_EXAMS, shuffled))
    assert [to_csv(table) for table in one] == [to_csv(table) for table in other]
    assert len({table.name for table in one}) == len(one) == 15


SMALL = Table(
    name="small_table",
    caption="50 % of a|b.",
    keys=("Data_set",),
    columns=(Column("Mean Δ"), Column("SD", counted=False), Column("Verdict")),
    rows=(
        Row(
            ("a|b",),
            (
                Cell(
                    Estimate(-0.001, 8, 2, Interval(-1.5, 0.256), Interval(-2, 2)),
                    PaperFigure(-0.05, -0.37, 0.27),
                ),
                Cell(Estimate(1 / 3, 8, 2)),
                "yes",
            ),
        ),
        Row(("none",), (Cell(Estimate(np.nan, 0, 4)), Cell(Estimate(np.nan, 0, 4)), "")),
    ),
)


def test_csv_has_every_number() -> None:
    lines = list(csv.DictReader(StringIO(to_csv(SMALL))))
    assert lines[0] == {
        "Data_set": "a|b",
        "Mean Δ": "-0.001",
        "Mean Δ, low": "-1.5",
        "Mean Δ, high": "0.256",
        "Mean Δ, by question, low": "-2",
        "Mean Δ, by question, high": "2",
        "Mean Δ, n": "8",
        "Mean Δ, missing": "2",
        "Mean Δ, paper": "-0.05",
        "Mean Δ, paper, low": "-0.37",
        "Mean Δ, paper, high": "0.27",
        "SD": "0.333333",
        "SD, n": "8",
        "SD, missing": "2",
        "Verdict": "yes",
    }
    assert (lines[1]["Mean Δ"], lines[1]["Mean Δ, missing"]) == ("", "4")


def test_markdown() -> None:
    lines = to_markdown(SMALL).splitlines()
    assert lines[0] == "**Small table.** 50 % of a|b."
    assert lines[2:6] == [
        "| Data_set | Mean Δ | SD | Verdict |",
        "| --- | ---: | ---: | ---: |",
        r"| a\|b | 0.00 [−1.50, 0.26]<br>by question [−2.00, 2.00]<br>n 8, 2 missing<br>"
        "paper −0.05 [−0.37, 0.27] | 0.33 | yes |",
        "| none | –<br>n 0, 4 missing | – |  |",
    ]
    assert lines[-1].startswith("Paper: Mistral-7B")


def test_latex() -> None:
    text = to_latex(SMALL)
    assert r"Data\_set & Mean $\Delta$ & SD & Verdict \\ \hline" in text
    assert r"a$|$b & \shortstack[r]{0.00 [$-$1.50, 0.26] \\ by question" in text
    assert r"\caption{50 \% of a$|$b." in text
    assert r"\begin{tabular}{lrrr}" in text


@pytest.mark.parametrize(
    ("ending", "render"), [("csv", to_csv), ("md", to_markdown), ("tex", to_latex)]
)
def test_files(tmp_path: Path, ending: str, render: Callable[[Table], str]) -> None:
    write_table(SMALL, tmp_path)
    assert (tmp_path / f"small_table.{ending}").read_text(encoding="utf-8") == render(SMALL)


def test_a_table_without_figures_or_rows_can_be_written() -> None:
    for table in (exam_table(ML, []), difference_table(ML, Layout(pipelines=("baseline",)))):
        assert to_csv(table).startswith("Dataset,")
        assert "Paper:" not in to_markdown(table)
        assert to_latex(table)
