from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import SettingsError
from service.exam import ExamItem
from service.pseudonyms import Pseudonyms
from service.settings import Settings, load_settings
from tests.service.exam_world import QUESTION, answer

KEY = "0123456789abcdef" * 2


def test_the_value_is_that_of_hmac_sha_256() -> None:
    # The second case of RFC 4231, cut to 128 bits.
    pseudonyms = Pseudonyms("Jefe")
    assert pseudonyms.of("what do ya want for nothing?") == "p-5bdcc146bf60754e6a042426089575c7"


@given(one=st.text(), other=st.text())
def test_students_stay_apart_and_names_are_stable(one: str, other: str) -> None:
    pseudonyms = Pseudonyms(KEY)
    assert re.fullmatch("p-[0-9a-f]{32}", pseudonyms.of(one))
    assert (pseudonyms.of(one) == pseudonyms.of(other)) == (one == other)
    assert pseudonyms.of(pseudonyms.of(one)) == pseudonyms.of(one)
    assert Pseudonyms(KEY[::-1]).of(one) != pseudonyms.of(one)


@given(st.text())
def test_without_a_key_ids_stay(student_id: str) -> None:
    assert Pseudonyms().of(student_id) == student_id


def test_nothing_else_of_a_line_changes() -> None:
    item = ExamItem(QUESTION, answer("The Moon.", "a1", "kim"))
    changed = Pseudonyms(KEY).item(item)
    assert changed.answer.student_id == Pseudonyms(KEY).of("kim")
    assert (changed.question, changed.answer.text) == (item.question, item.answer.text)


def test_the_key_is_long_and_never_shown() -> None:
    with pytest.raises(SettingsError, match=r"STEADYEVAL_PSEUDONYM_KEY: .*32") as caught:
        load_settings(pseudonym_key="short secret")
    assert "short secret" not in str(caught.value)
    assert KEY not in repr(load_settings(pseudonym_key=KEY))
    assert Settings().pseudonyms.of("kim") == "kim"
