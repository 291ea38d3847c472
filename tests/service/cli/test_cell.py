from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.cli.cell import cell


@given(st.text())
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    assert all(c.isprintable() or c == "\n" for c in cell(text).plain)


def test_text_of_students_is_no_markup() -> None:
    shown = cell("\x1b[2J[red]gone[/red]\x9b1m")
    assert shown.plain == r"\x1b[2J[red]gone[/red]\x9b1m"
    assert not shown.spans


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.123456, "0.1235"), (["a", 1], "a\n1"), ("abcdef", "abc…"), ("abc", "abc")],
)
def test_values(value: object, shown: str) -> None:
    assert cell(value, at_most=3 if isinstance(value, str) else None).plain == shown
