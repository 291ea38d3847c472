"""Styles are told from the text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.style import PLAIN, STYLES, styles


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("I think a router looks up the longest prefix, but I am not sure about ties.", "hedged"),
        ("The packet is in a network and it have a header to find the way.", "non-native"),
        ("Das Paket wird von dem Router geschickt und ist dann dort.", "other language"),
        ("The router kinda looks at its table and then sends it to the next lol", "informal"),
        ("the table is read first. the packet is sent to the next hop after that.", "informal"),
        ("Longest prefix match.", "terse"),
        ("- the table is read by the router\n- the packet is sent on to the next hop", "list"),
        ("for (int i = 0; i < n; i++) { a[i] = b[i] + c[i]; } return a;", "code-heavy"),
        ("  \n", "empty"),
    ],
)  # fmt: skip
def test_styles(text: str, style: str) -> None:
    assert style in styles(text)


def test_an_answer_in_plain_words_has_no_other_style() -> None:
    text = (
        "The router compares the destination with its routing table and forwards the packet to "
        "the next hop of the longest matching prefix. Without a match the packet is dropped."
    )
    assert styles(text) == (PLAIN,)


@given(st.text(alphabet=st.characters()))
def test_every_text_has_styles_in_order(text: str) -> None:
    found = styles(text)
    assert found
    assert list(found) == [style for style in STYLES if style in found]
