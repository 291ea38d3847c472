from __future__ import annotations

from filter_training.marked import Span
from filter_training.restoration_worst import worst, worst_page
from tests.filter_training.measured import case, marked, outcome


def test_the_ten_worst_come_first() -> None:
    outcomes = [
        outcome(case(marked("x" * 30), answer_id=f"a{number}"), Span(0, 1 + number))
        for number in range(12)
    ]
    fine = outcome(case(marked("A queue.")))
    found = worst([*outcomes, fine], "content_lost")
    assert [made.score.honest_chars_lost for made in found] == list(range(12, 2, -1))
    assert worst([fine], "content_lost") == []


def test_a_diff_tells_lost_left_and_removed_apart() -> None:
    text = marked("A queue", " is first", " in, first out.\u200b")
    page = worst_page([outcome(case(text), Span(2, 10))])
    assert "A [-queue-][~ is~]{+ first+} in, first out.\\u{200b}" in page
    assert "## families_seen: attack left" in page
    assert "## families_seen: content lost" in page


def test_a_text_cannot_leave_its_fence() -> None:
    text = marked("```\n# A heading of the student's\n````", " 10")
    page = worst_page([outcome(case(text))])
    assert page.count("\n`````\n") == 2


def test_the_page_says_that_it_is_for_local_reading() -> None:
    assert "Neither publish nor commit" in worst_page([])
