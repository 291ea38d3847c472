"""What training draws and what is measured with share neither wordings nor disguises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from filter_training.attacks import FAMILIES, PAPER_ATTACKS, PLACEMENTS, make_attack
from filter_training.marked import Attack, Part
from tests.filter_training.world import SENTENCES, question

ROOT = Path(__file__).parents[3]
DRAWS = 400
ANSWER = " ".join(SENTENCES)
# Frames that both parts put around wordings of their own.
SHARED_CARRIERS = {"plain", "student_attack", "html_comment"}
FRAME_WORDS = re.compile(r"\[/?STUDENT ATTACK\]")


@cache
def draws(family: str, part: Part) -> tuple[Attack, ...]:
    random = Random(11)
    return tuple(make_attack(family, question(1), ANSWER, random, part) for _ in range(DRAWS))


def injected(made: Attack) -> Iterator[str]:
    for span in made.marked.spans:
        yield made.marked.text[span.start : span.end]


def phrases(made: Attack) -> Iterator[tuple[str, ...]]:
    """All runs of six words, without numbers and the paper's frame."""
    for text in injected(made):
        words = re.findall(r"[^\W\d_]{2,}", FRAME_WORDS.sub(" ", text).lower())
        yield from zip(*(words[start:] for start in range(6)), strict=False)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_phrase_is_in_both_parts(family: str) -> None:
    seen = {phrase for made in draws(family, Part.SEEN) for phrase in phrases(made)}
    held_out = {phrase for made in draws(family, Part.HELD_OUT) for phrase in phrases(made)}
    assert not seen & held_out


@pytest.mark.parametrize("family", FAMILIES)
def test_no_own_carrier_or_language_is_in_both_parts(family: str) -> None:
    carriers: dict[Part, set[str]] = {}
    languages: dict[Part, set[str]] = {}
    for part in Part:
        made = draws(family, part)
        carriers[part] = {one.carrier for one in made}
        languages[part] = {one.language for one in made}
        assert {one.part for one in made} == {part}
        assert {one.attack_type for one in made} == {family}
    shared = carriers[Part.SEEN] & carriers[Part.HELD_OUT]
    if family in ("hidden_text", "obfuscated", "template_spoof"):
        assert not shared
    assert shared <= SHARED_CARRIERS
    if family == "other_language":
        assert not languages[Part.SEEN] & languages[Part.HELD_OUT]
        assert "en" not in languages[Part.SEEN] | languages[Part.HELD_OUT]
    else:
        assert languages[Part.SEEN] == languages[Part.HELD_OUT] == {"en"}


@pytest.mark.parametrize("family", PAPER_ATTACKS)
def test_the_papers_texts_are_seen_and_never_held_out(family: str) -> None:
    paper = PAPER_ATTACKS[family]
    count = {
        part: sum(
            paper in text for made in draws(family, part) for text in islice(injected(made), 1)
        )
        for part in Part
    }
    assert 0.08 * DRAWS < count[Part.SEEN] < 0.25 * DRAWS
    assert count[Part.HELD_OUT] == 0


@pytest.mark.parametrize("part", Part)
@pytest.mark.parametrize("family", FAMILIES)
def test_wordings_vary(family: str, part: Part) -> None:
    texts = {next(injected(made)).strip() for made in draws(family, part)}
    assert len(texts) > DRAWS / 5


@pytest.mark.parametrize("part", Part)
def test_every_placement_is_drawn(part: Part) -> None:
    placements = {made.placement for made in draws("markerless", part)}
    assert placements == set(PLACEMENTS)


@pytest.mark.parametrize("part", Part)
def test_the_same_seed_makes_the_same_attacks(part: Part) -> None:
    for family in FAMILIES:
        one, other = Random(3), Random(3)
        for _ in range(20):
            made = make_attack(family, question(1), ANSWER, one, part)
            assert made == make_attack(family, question(1), ANSWER, other, part)


def test_families_are_documented_in_their_own_words() -> None:
    documented = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    for name, family in FAMILIES.items():
        assert family.name == name
        assert f"| `{name}` | {family.description} |" in documented
        assert set(family.placements) == set(PLACEMENTS)
