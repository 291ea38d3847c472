from __future__ import annotations

import base64
import codecs
import re
import unicodedata
from random import Random

from filter_training.attacks import make_attack
from filter_training.marked import Attack, Part
from tests.filter_training.world import question

ENGLISH = re.compile(r"[ -~\n✔✓☑★👍éö§·–—…→↔🎉]+")


def disguised(carrier: str) -> list[Attack]:
    random = Random(5)
    drawn = (make_attack("obfuscated", question(1), "", random, Part.SEEN) for _ in range(800))
    return [made for made in drawn if made.carrier == carrier]


def reads(text: str) -> bool:
    """True of letters, digits and marks as one types them in English, with a word or a number."""
    return bool(ENGLISH.fullmatch(text)) and bool(re.search(r"[A-Za-z]{2}|\d", text))


def test_base64_decodes_to_an_order() -> None:
    for made in disguised("base64"):
        words = re.findall(r"[A-Za-z0-9+/=]+", made.marked.text)
        coded = max((word for word in words if len(word) % 4 == 0), key=len)
        assert reads(base64.b64decode(coded).decode())


def test_rot13_and_reversed_text_read_back() -> None:
    turned = [codecs.encode(made.marked.text, "rot13") for made in disguised("rot13")]
    assert any("score" in text for text in turned)
    turned = [made.marked.text[::-1] for made in disguised("reversed_text")]
    assert any("score" in text for text in turned)


def test_tag_characters_show_nothing() -> None:
    for made in disguised("tag_characters"):
        assert all(unicodedata.category(one) == "Cf" for one in made.marked.text)


def test_letters_of_other_styles_normalise_to_an_order() -> None:
    for carrier in ("full_width", "mathematical_letters"):
        for made in disguised(carrier):
            assert not re.search(r"[A-Za-z]", made.marked.text)
            assert reads(unicodedata.normalize("NFKC", made.marked.text))


def test_zero_width_characters_stand_between_the_letters() -> None:
    for made in disguised("zero_width"):
        assert {unicodedata.category(one) for one in made.marked.text[1::2]} == {"Cf"}
        assert reads(made.marked.text[::2])
