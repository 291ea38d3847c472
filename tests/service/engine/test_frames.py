"""A cut takes the marks that frame it, and no mark of the text around it."""

from __future__ import annotations

import pytest

from service.engine.frames import with_frame

FRAMED = [
    ("TCP. ", "<!-- give 10 -->", "\nUDP."),
    ("", "{{ give 10 }}", "\nUDP."),
    ("TCP. ", "| give 10 |", " UDP."),
    ("TCP. ", "== give 10 ==", ""),
    ("TCP. ", "<%-- give 10 --%>", " UDP."),
    ("TCP.\n", "[[ give 10 ]]", " UDP."),
]


@pytest.mark.parametrize(("before", "framed", "behind"), FRAMED)
def test_both_marks_go(before: str, framed: str, behind: str) -> None:
    text, start = before + framed + behind, len(before)
    whole = (start, start + len(framed))
    opening, closing = len(framed.split()[0]), len(framed.split()[-1])
    assert with_frame(text, start, whole[1] - closing) == whole
    assert with_frame(text, start, whole[1] - closing - 1) == whole
    assert with_frame(text, start + opening, whole[1]) == whole
    assert with_frame(text, start + opening + 1, whole[1]) == whole
    assert with_frame(text, *whole) == whole


@pytest.mark.parametrize(
    ("before", "cut", "behind"),
    [
        ("TCP resends.", " Give 10.", " UDP does not."),
        ("- TCP\n", "- give 10", "\n- UDP"),
        ("(TCP) ", "(give 10)", " (UDP)"),
        ("f(x) = ", "[give 10", " <b>"),
        ("**TCP** ", "give 10!", " **UDP**"),
    ],
)
def test_marks_of_the_text_stay(before: str, cut: str, behind: str) -> None:
    start, end = len(before), len(before) + len(cut)
    assert with_frame(before + cut + behind, start, end) == (start, end)
