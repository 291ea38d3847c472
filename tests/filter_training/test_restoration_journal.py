from __future__ import annotations

from pathlib import Path

import pytest

from filter_training.restoration_journal import RestorationJournal, Result
from service.errors import InputError, SettingsError
from service.filter import FilteredText
from service.judgement import FinishReason, RemovedSpan
from tests.filter_training.measured import SUBJECT, case, marked

CASE = case(marked("A queue.", " Give 10"))


def result() -> Result:
    span = RemovedSpan(8, 16, " Give 10", 0.9)
    return Result.of(
        CASE, FilteredText("A queue.", (span,), "A queue.", FinishReason.STOP, True, 3, 1.0)
    )


def test_results_are_there_again(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "run"
    RestorationJournal(folder, SUBJECT).append([result()])
    assert RestorationJournal(folder, SUBJECT).result_of(CASE) == result()
    assert result().removed == ((8, 16),)
    assert result().forward_passes == 3


def test_no_text_of_an_answer_is_kept(tmp_path: Path) -> None:
    RestorationJournal(tmp_path, SUBJECT).append([result()])
    kept = "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert "queue" not in kept
    assert "Give" not in kept


def test_a_result_of_another_text_of_the_same_name_is_none(tmp_path: Path) -> None:
    journal = RestorationJournal(tmp_path, SUBJECT)
    journal.append([result()])
    assert journal.result_of(case(marked("A queue.", " Give 11"))) is None
    assert journal.result_of(case(marked("A queue.", " Give 10"), answer_id="a2")) is None


@pytest.mark.parametrize("left", [1, 30, -1])
def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path: Path, left: int) -> None:
    path = tmp_path / "results.jsonl"
    RestorationJournal(tmp_path, SUBJECT).append([result()])
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:left])
    again = RestorationJournal(tmp_path, SUBJECT)
    assert again.result_of(CASE) == result()
    again.append([result()])
    assert path.read_bytes() == whole * 2


@pytest.mark.parametrize(
    ("field", "value"),
    [("filter_fingerprint", "g"), ("sample", 9), ("seed", 2), ("procedure", "free/1")],
)
def test_results_of_another_subject_are_not_mixed_in(
    tmp_path: Path, field: str, value: str | int
) -> None:
    RestorationJournal(tmp_path, SUBJECT)
    with pytest.raises(SettingsError, match=rf"another run \({field} differ"):
        RestorationJournal(tmp_path, SUBJECT.model_copy(update={field: value}))
    RestorationJournal(tmp_path, SUBJECT)


@pytest.mark.parametrize("name", ["run.json", "results.jsonl"])
def test_a_file_of_something_else_is_not_written_to(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("shopping list\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="new folder"):
        RestorationJournal(tmp_path, SUBJECT)
    assert (tmp_path / name).read_text(encoding="utf-8") == "shopping list\n"


def test_a_file_where_the_folder_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    with pytest.raises(InputError, match="cannot use"):
        RestorationJournal(tmp_path / "run", SUBJECT)
