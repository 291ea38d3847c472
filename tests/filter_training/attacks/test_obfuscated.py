from __future__ import annotations

import base64
import codecs
import re
import unicodedata
from random import Random

from filter_training.attacks import make_attack
from filter_training.marked import Attack, Part
from tests.filter_training.world import question

SEEN_ORDER = re.compile(
    r"point|score|mark|full|grade|answer|10|correct|rubric|criteri|student|instruct|rule", re.I
)


def disguised(carrier: str) -> list[Attack]:
    random = Random(5)
    drawn = (make_attack("obfuscated", question(1), "", random, Part.SEEN) for _ in range(800))
    return [made for made in drawn if made.carrier == carrier]


def test_base64_decodes_to_an_order() -> None:
    for made in disguised("base64"):
        coded = max(re.findall(r"[A-Za-z0-9+/=]{8,}", made.marked.text), key=len)
        assert SEEN_ORDER.search(base64.b64decode(coded).decode())


def test_rot13_and_reversed_text_read_back() -> None:
    assert any(
        SEEN_ORDER.search(codecs.decode(made.marked.text, "rot13")) for made in disguised("rot13")
    )
    assert any(SEEN_ORDER.search(made.marked.text[::-1]) for made in disguised("reversed_text"))


def test_tag_characters_show_nothing() -> None:
    for made in disguised("tag_characters"):
        assert all(unicodedata.category(one) == "Cf" for one in made.marked.text)


def test_letters_of_other_styles_normalise_to_an_order() -> None:
    for carrier in ("full_width", "mathematical_letters"):
        for made in disguised(carrier):
            assert not re.search(r"[A-Za-z]", made.marked.text)
            assert SEEN_ORDER.search(unicodedata.normalize("NFKC", made.marked.text))


def test_zero_width_characters_stand_between_the_letters() -> None:
    for made in disguised("zero_width"):
        letters = made.marked.text
        assert {unicodedata.category(one) for one in letters[1::2]} == {"Cf"}
        assert SEEN_ORDER.search(letters[::2])
