from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from service.errors import ExamFileError, InputError
from service.exam import Criterion, ExamItem, HumanScore, ScoreScale
from service.exam_file import read_exam
from service.exam_record import ExamRecord, QuestionModel

SHARED_EXAMS = Path(__file__).parents[3] / "shared" / "data" / "exams"

RECORD: dict[str, Any] = {
    "answer_id": "a1",
    "student_id": "s1",
    "question_id": "q1",
    "dataset": "Exam",
    "domain": "Course",
    "question": "Why is the sky blue?",
    "student_answer": "Rayleigh scattering.",
    "Gold_answer": "Short waves are scattered more.",
    "rubric": "technical",
    "Gold_type": "factual",
    "Gold_points": [["Names scattering", 6], ["Says short waves scatter more", 4]],
    "Banned_misconceptions": ["The sea is mirrored"],
    "human_scores": [8, 9.5],
    "human_score": 8.75,
}


def changed(**values: Any) -> dict[str, Any]:
    """RECORD with other values; `...` leaves a column out."""
    return {name: value for name, value in {**RECORD, **values}.items() if value is not ...}


@pytest.fixture
def read_jsonl(tmp_path: Path) -> Callable[..., list[ExamItem]]:
    def read(*records: Any, max_answer_chars: int = 1000) -> list[ExamItem]:
        file = tmp_path / "exam.jsonl"
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return read_exam(file, max_answer_chars=max_answer_chars)

    return read


@pytest.fixture
def read_bytes(tmp_path: Path) -> Callable[[str, bytes], list[ExamItem]]:
    def read(name: str, content: bytes) -> list[ExamItem]:
        file = tmp_path / name
        file.write_bytes(content)
        return read_exam(file, max_answer_chars=1000)

    return read


def as_csv(*records: dict[str, Any], delimiter: str = ",", end: str = "\n") -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter, lineterminator=end)
    writer.writeheader()
    for record in records:
        writer.writerow(
            {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in record.items()
            }
        )
    return text.getvalue()


def faults_of(read: Callable[[], object]) -> list[tuple[int, str | None]]:
    with pytest.raises(ExamFileError) as caught:
        read()
    return [(error.line, error.column) for error in caught.value.errors]


def test_a_record_becomes_an_item(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    [item] = read_jsonl(changed(attack_type="stealth", split="test", extra={"ignored": True}))
    assert item.question.exam_id == "Exam"
    assert item.question.text == "Why is the sky blue?"
    assert item.question.gold_points == (
        Criterion("Names scattering", 6),
        Criterion("Says short waves scatter more", 4),
    )
    assert item.question.banned_misconceptions == ("The sea is mirrored",)
    assert item.question.scale == ScoreScale(1, 10, 1)
    assert item.answer.text == "Rayleigh scattering."
    assert item.answer.attack_type == "stealth"
    assert item.human_scores == (HumanScore("rater_1", 8.0), HumanScore("rater_2", 9.5))
    assert item.split == "test"


def test_what_may_be_left_out(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    optional = ["Gold_answer", "Gold_type", "Gold_points", "Banned_misconceptions"]
    optional += ["human_scores", "human_score"]
    [item] = read_jsonl(changed(**dict.fromkeys(optional, ...)))
    assert item.question.gold_points == ()
    assert item.question.scale == ScoreScale(1, 10, 1)
    assert item.human_scores == ()
    assert item.answer.attack_type == "unlabelled"


def test_null_is_the_same_as_absent(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    [item] = read_jsonl(changed(max_points=None, human_scores=None, human_score=None))
    assert item.human_scores == ()
    assert item.question.scale.max_points == 10


def test_a_rater_who_gave_no_score_keeps_the_number(
    read_jsonl: Callable[..., list[ExamItem]],
) -> None:
    [item] = read_jsonl(changed(human_scores=[None, 7], human_score=7))
    assert item.human_scores == (HumanScore("rater_2", 7.0),)


def test_a_mean_alone_is_the_score_of_one_rater(
    read_jsonl: Callable[..., list[ExamItem]],
) -> None:
    [item] = read_jsonl(changed(human_scores=[]))
    assert item.human_scores == (HumanScore("rater_1", 8.75),)


def test_an_empty_answer_is_valid(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    [item] = read_jsonl(changed(student_answer=""))
    assert item.answer.text == ""


def test_a_scale_of_its_own(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    [item] = read_jsonl(
        changed(Gold_points=[], rubric="All or nothing", min_score=0, max_points=2.5, step=0.5)
        | {"human_scores": [0, 2.5], "human_score": 1.25}
    )
    assert item.question.scale == ScoreScale(0, 2.5, 0.5)


def test_line_breaks_of_other_alphabets_do_not_end_a_line(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
) -> None:
    record = json.dumps(changed(student_answer="one\u2028two\x85three"), ensure_ascii=False)
    [item] = read_bytes("exam.jsonl", f"\ufeff{record}\r\n\r\n".encode())
    assert item.answer.text == "one\u2028two\x85three"


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"answer_id": ...}, "answer_id"),
        ({"answer_id": ""}, "answer_id"),
        ({"answer_id": "  "}, "answer_id"),
        ({"answer_id": "a" * 201}, "answer_id"),
        ({"student_id": "two\nlines"}, "student_id"),
        ({"dataset": "bell\x07"}, "dataset"),
        ({"question": ...}, "question"),
        ({"question": ""}, "question"),
        ({"question": " \n"}, "question"),
        ({"question": 7}, "question"),
        ({"student_answer": ...}, "student_answer"),
        ({"student_answer": "x" * 1001}, "student_answer"),
        ({"student_answer": "NUL \x00"}, "student_answer"),
        ({"student_answer": "half \ud83d"}, "student_answer"),
        ({"Gold_points": [["x", 0]]}, "Gold_points[0][1]"),
        ({"Gold_points": [["x", 5], ["y", -5]]}, "Gold_points[1][1]"),
        ({"Gold_points": [["x", True]]}, "Gold_points[0][1]"),
        ({"Gold_points": [["x", 10.0]]}, "Gold_points[0][1]"),
        ({"Gold_points": [["x", "10"]]}, "Gold_points[0][1]"),
        ({"Gold_points": [["x", 10**400]]}, "Gold_points[0][1]"),
        ({"Gold_points": [["", 10]]}, "Gold_points[0][0]"),
        ({"Gold_points": [["\t", 10]]}, "Gold_points[0][0]"),
        ({"Gold_points": "x"}, "Gold_points"),
        ({"Gold_points": [], "rubric": " "}, "rubric"),
        ({"max_points": 9}, "max_points"),
        ({"max_points": "10"}, "max_points"),
        ({"Gold_points": [], "max_points": 0, "human_scores": [], "human_score": None}, "step"),
        ({"Gold_points": [["x", 600], ["y", 401]]}, "max_points"),
        ({"max_points": 10**400}, "max_points"),
        ({"min_score": 10, "human_scores": [10], "human_score": 10}, "step"),
        ({"min_score": -1}, "step"),
        ({"step": 0.3}, "step"),
        ({"human_scores": [8, 11]}, "human_scores"),
        ({"human_scores": [0.5]}, "human_scores"),
        ({"human_scores": [True]}, "human_scores[0]"),
        ({"human_scores": ["8"]}, "human_scores[0]"),
        ({"human_score": 10.5}, "human_score"),
        ({"human_score": 8.6}, "human_score"),
    ],
)
def test_a_bad_value_is_reported_with_its_column(
    read_jsonl: Callable[..., list[ExamItem]], values: dict[str, Any], column: str
) -> None:
    bad = changed(**{"answer_id": "a2", **values})
    assert faults_of(lambda: read_jsonl(RECORD, bad)) == [(2, column)]


def test_a_mean_may_be_rounded(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    [item] = read_jsonl(changed(human_scores=[8, 9.5], human_score=8.8))
    assert len(item.human_scores) == 2


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "7", '"text"', "null", "nonsense", "[" * 100_000, '{"a": ' + "9" * 5000 + "}"],
)
def test_a_line_that_is_no_json_object(
    read_jsonl: Callable[..., list[ExamItem]], line: str
) -> None:
    assert faults_of(lambda: read_jsonl(RECORD, line)) == [(2, None)]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none(read_jsonl: Callable[..., list[ExamItem]], number: str) -> None:
    record = json.dumps(RECORD).replace("9.5", number)
    assert [at for at, _ in faults_of(lambda: read_jsonl(record))] == [1]


def test_a_key_that_stands_twice(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    line = json.dumps(RECORD)[:-1] + ', "student_answer": "another"}'
    with pytest.raises(ExamFileError, match="'student_answer' stands there twice"):
        read_jsonl(line)


def test_every_fault_of_the_file_is_listed_at_once(
    read_jsonl: Callable[..., list[ExamItem]],
) -> None:
    records = [
        changed(answer_id=""),
        "",
        "{broken",
        changed(answer_id="a3", question=7, max_points=3),
        RECORD,
        RECORD,
        changed(answer_id="a4", student_answer="x" * 1001),
    ]
    assert faults_of(lambda: read_jsonl(*records)) == [
        (1, "answer_id"),
        (3, None),
        (4, "question"),
        (4, "max_points"),
        (6, "answer_id"),
        (7, "student_answer"),
    ]


def test_a_message_shows_the_first_hundred_faults(
    read_jsonl: Callable[..., list[ExamItem]],
) -> None:
    with pytest.raises(ExamFileError) as caught:
        read_jsonl(*["{"] * 103)
    assert len(caught.value.errors) == 103
    assert "line 100:" in str(caught.value)
    assert "line 101:" not in str(caught.value)
    assert str(caught.value).endswith("and 3 more")


def test_one_answer_may_have_variants_but_none_twice(
    read_jsonl: Callable[..., list[ExamItem]],
) -> None:
    clean, attacked = changed(attack_type="clean"), changed(attack_type="stealth")
    other_exam = changed(dataset="Other exam", attack_type="clean")
    assert len(read_jsonl(clean, attacked, other_exam)) == 3
    assert faults_of(lambda: read_jsonl(clean, attacked, clean)) == [(3, "answer_id")]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"question": "Why is the sea blue?"}, "question"),
        ({"rubric": "another"}, "rubric"),
        ({"min_score": 0}, "scale"),
        ({"Gold_points": [["Names scattering", 10]]}, "Gold_points"),
    ],
)
def test_a_question_is_the_same_on_all_its_lines(
    read_jsonl: Callable[..., list[ExamItem]], values: dict[str, Any], named: str
) -> None:
    with pytest.raises(ExamFileError, match=f"line 2, question_id: .*line 1.*{named}"):
        read_jsonl(RECORD, changed(answer_id="a2", **values))


def test_an_answer_belongs_to_one_student(read_jsonl: Callable[..., list[ExamItem]]) -> None:
    other = changed(student_id="s2", attack_type="stealth")
    assert faults_of(lambda: read_jsonl(RECORD, other)) == [(2, "answer_id")]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["exam.jsonl", "exam.csv"])
def test_a_file_without_answers(
    read_bytes: Callable[[str, bytes], list[ExamItem]], name: str, content: bytes
) -> None:
    with pytest.raises(ExamFileError, match="holds no answers"):
        read_bytes(name, content)


def test_bytes_that_are_not_utf8_are_reported_by_line(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
) -> None:
    good = json.dumps(RECORD).encode()
    content = b"\n".join([good, "{ä}".encode("latin-1"), good, b"\xff"])
    assert faults_of(lambda: read_bytes("exam.jsonl", content)) == [(2, None), (4, None)]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_exam(tmp_path / "none.jsonl", max_answer_chars=1000)
    with pytest.raises(InputError, match=r"\.jsonl or \.csv"):
        read_exam(tmp_path / "exam.xlsx", max_answer_chars=1000)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_says_the_same_as_jsonl(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
    read_jsonl: Callable[..., list[ExamItem]],
    delimiter: str,
    end: str,
    mark: str,
) -> None:
    answer = 'She said: "blue; red, green"\n\tand left.'
    records = [
        RECORD,
        changed(answer_id="a2", student_answer=answer, human_scores=[1], human_score=1),
    ]
    content = (mark + as_csv(*records, delimiter=delimiter, end=end)).encode()
    assert read_bytes("exam.csv", content) == read_jsonl(*records)


def test_empty_cells_are_absent_values(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
) -> None:
    record = changed(
        Gold_points="", max_points="", human_scores="", human_score="", attack_type="", split=""
    )
    [item] = read_bytes("exam.csv", as_csv(record | {"student_answer": ""}).encode())
    assert item.question.scale == ScoreScale(1, 10, 1)
    assert item.answer.text == ""
    assert item.answer.attack_type == "unlabelled"
    assert item.human_scores == ()


def test_csv_faults_have_the_line_where_the_row_starts(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
) -> None:
    records = [
        changed(student_answer="line 2\nline 3\r\nline 4"),
        changed(answer_id="", student_answer="line 5\n\n"),
        changed(answer_id="a3", human_score="7,5"),
        changed(answer_id="a4", Gold_points="Names scattering: 10"),
    ]
    content = as_csv(*records) + "too;few;cells\n"
    assert faults_of(lambda: read_bytes("exam.csv", content.encode())) == [
        (5, "answer_id"),
        (8, "human_score"),
        (9, "Gold_points"),
        (10, None),
    ]


def test_a_csv_that_lacks_columns_says_which(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
) -> None:
    content = as_csv(changed(domain=..., student_answer=...)).encode()
    assert faults_of(lambda: read_bytes("exam.csv", content)) == [
        (1, "domain"),
        (1, "student_answer"),
    ]


def test_a_csv_column_that_stands_twice(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
) -> None:
    content = as_csv(RECORD).replace("rubric", "question", 1)
    assert faults_of(lambda: read_bytes("exam.csv", content.encode())) == [(1, "question")]


def test_a_quote_that_is_never_closed(
    read_bytes: Callable[[str, bytes], list[ExamItem]],
) -> None:
    content = as_csv(RECORD) + '"never closed\n' * 3
    assert faults_of(lambda: read_bytes("exam.csv", content.encode()))[0] == (3, None)


_CELLS = st.one_of(
    st.text(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.lists(st.one_of(st.text(), st.integers(), st.lists(st.integers()))),
)
_RECORDS = st.tuples(st.sampled_from(sorted(RECORD)), _CELLS).map(
    lambda cell: {**RECORD, cell[0]: cell[1]}
)
_LINES = st.one_of(st.binary(), _RECORDS.map(lambda record: json.dumps(record).encode()))


def _read(file: Path) -> list[ExamItem] | ExamFileError:
    try:
        return read_exam(file, max_answer_chars=1000)
    except ExamFileError as error:
        return error


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    suffix=st.sampled_from([".jsonl", ".csv"]),
    header=st.sampled_from([b"", ",".join(RECORD).encode() + b"\n"]),
    lines=st.lists(_LINES, max_size=4),
)
def test_any_bytes_are_read_or_refused_with_lines(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, header: bytes, lines: list[bytes]
) -> None:
    file = tmp_path_factory.getbasetemp() / f"any{suffix}"
    file.write_bytes(header + b"\n".join(lines))
    result = _read(file)
    if isinstance(result, ExamFileError):
        assert result.errors
        assert all(fault.line >= 1 for fault in result.errors)
        assert str(result).encode()  # it can be printed
    else:
        assert result


@settings(deadline=None)
@given(_CELLS)
def test_any_answer_text_is_kept_as_it_is_or_refused(answer: object) -> None:
    try:
        record = ExamRecord.model_validate(changed(student_answer=answer))
    except ValidationError:
        assert not isinstance(answer, str) or "\x00" in answer
    else:
        assert record.to_item().answer.text == answer


def test_a_question_of_a_request() -> None:
    question = QuestionModel.model_validate(RECORD).to_question()
    assert question == ExamRecord.model_validate(RECORD).to_item().question


@pytest.mark.parametrize("name", ["ML_nn", "CN_saf", "CS_mohler"])
def test_real_exams_are_read_whole(name: str) -> None:
    file = SHARED_EXAMS / f"{name}.jsonl"
    if not file.exists():
        pytest.skip(f"{file} is not on this machine")
    items = read_exam(file, max_answer_chars=20_000)
    assert len(items) == len(file.read_bytes().splitlines())
    assert all(item.human_scores and item.split for item in items)
