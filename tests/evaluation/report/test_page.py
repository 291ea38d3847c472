"""The report holds what it says, and nothing that others wrote can act in it."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.evaluated import TextKey
from evaluation.layout import Layout
from evaluation.report import report_page
from evaluation.report.highlight import pieces, visible
from evaluation.report.worst_cases import worst_cases
from evaluation.scores import ScoreRow, Scores
from evaluation.tables import Table, all_tables
from tests.evaluation.made_up import answer_rows

HOSTILE = (
    "</pre></td></table><script>alert(1)</script>\"'`<img src=x onerror=alert(1)>"
    "\u202etxet\u2066\ud800\x00{{ 7*7 }}{% for %}<!-- --> &amp;"
)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


class Elements(HTMLParser):
    """Tags with their attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.found]


def rows(exam: str = "exam", answer: str = "a") -> list[ScoreRow]:
    """One answer, lifted by an attack; of its clean text `filtered` removed three characters."""
    made = answer_rows(
        answer, {"baseline": [3, 9, 3, 3, 3], "filtered": [2] * 5}, human=[4], exam_id=exam
    )
    return [
        replace(row, removed=((1, 4),), styles=("terse",))
        if (row.pipeline_variant, row.attack_type) == ("filtered", "clean")
        else replace(row, styles=("terse",))
        for row in made
    ]


def page_of(given_rows: list[ScoreRow], text: str | None) -> str:
    scores, layout = Scores.of(given_rows), Layout()
    tables: dict[str, Table] = {table.name: table for table in all_tables(scores, [], layout)}
    texts: dict[TextKey, str] | None = (
        None
        if text is None
        else {(row.exam_id, row.answer_id, row.attack_type): text for row in given_rows}
    )
    return report_page(scores, tables, {"One": SVG}, layout, description=None, texts=texts)


@pytest.fixture(scope="module")
def honest_page() -> str:
    return page_of(rows(), "An answer")


def test_what_was_removed_stands_out(honest_page: str) -> None:
    assert "A<del>n a</del>nswer</pre>" in honest_page


def test_without_texts_there_are_ids_and_offsets_only() -> None:
    page = page_of(rows(answer="a17"), None)
    assert not {"pre", "del"} & set(Elements(page).tags())
    assert "a17" in page
    assert "1–4" in page


def test_hostile_texts_and_names_stay_text(honest_page: str) -> None:
    named = HOSTILE.replace("\ud800", "").replace("\x00", "")
    page = page_of(rows(exam=named, answer=named), HOSTILE)
    page.encode("utf-8")
    hostile, honest = Elements(page), Elements(honest_page)
    assert hostile.tags() == honest.tags()
    assert "script" not in hostile.tags()
    assert "<script>alert(1)</script>" in hostile.text
    assert "{{ 7*7 }}" in hostile.text
    assert not {"\u202e", "\u2066", "\ud800", "\x00"} & set(page)
    assert "\\u{202e}txet\\u{2066}\\u{d800}\\u{0}" in hostile.text
    assert not [name for _, attributes in hostile.found for name in attributes if name[:2] == "on"]


def test_the_page_needs_nothing_beside_itself(honest_page: str) -> None:
    parsed = Elements(honest_page)
    for tag, attributes in parsed.found:
        assert tag not in ("script", "link", "iframe", "object")
        for name in ("src", "href", "srcset", "data"):
            assert (attributes.get(name) or "data:").startswith("data:")
    assert "url(" not in honest_page
    policies = [dict(a).get("content") for tag, a in parsed.found if tag == "meta"]
    assert any(policy and policy.startswith("default-src 'none'") for policy in policies)


def test_all_tables_and_figures_are_there(honest_page: str) -> None:
    names = {attributes.get("id") for tag, attributes in Elements(honest_page).found}
    assert names >= {table.name for table in all_tables(Scores.of(rows()), [], Layout())}
    assert honest_page.count("data:image/svg+xml;base64,") == 1


def test_the_summary_says_good_and_bad(honest_page: str) -> None:
    text = Elements(honest_page).text
    assert "None of the 10 grades is missing." in text
    assert "change the score by 1.50" in text
    assert "against baseline, clean answers get −1.00" in text
    lost = [replace(row, score=None) for row in rows()[:1]] + rows()[1:]
    assert "1 of 10 grades are missing" in Elements(page_of(lost, None)).text


def test_worst_cases_come_worst_first() -> None:
    made = [
        row
        for name, lifted in (("a", 4), ("b", 9), ("c", None))
        for row in answer_rows(name, {"baseline": [3, 3, lifted, 3, 3]}, human=[3])
    ]
    [moved] = worst_cases(Scores.of(made), Layout(pipelines=("baseline",)), None)
    assert [(case.answer, case.variant, case.score) for case in moved.cases] == [
        ("b", made[2].attack_type, 9),
        ("a", made[2].attack_type, 4),
    ]
    assert {case.beside for case in moved.cases} == {3}


@given(st.text(alphabet=st.characters()), st.data())
def test_pieces_are_the_text(text: str, data: st.DataObject) -> None:
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = list(zip(borders[::2], borders[1::2], strict=False))
    cut = pieces(text, spans)
    assert "".join(piece.text for piece in cut) == text
    removed = "".join(piece.text for piece in cut if piece.removed)
    assert removed == "".join(text[start:end] for start, end in spans)


@given(st.text(alphabet=st.characters()))
def test_what_is_visible_can_be_printed(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert all(character.isprintable() or character in "\n\r\t" for character in shown)
