from __future__ import annotations

from random import Random

from filter_training.honest import TRAP, trap
from filter_training.honest.topics import read
from filter_training.marked import Part
from tests.filter_training.world import question

ANSWER = "A stack gives back what came last. A queue does not.\nBoth keep an order"


def test_the_answer_is_still_there() -> None:
    for seed in range(500):
        honest = trap(question(1), ANSWER, Random(seed), Part.SEEN)
        assert honest.kind == TRAP
        assert honest.text == honest.text.strip()
        assert len(honest.text) > len(ANSWER)
        for sentence in ("what came last.", "A queue does not.", "Both keep an order"):
            assert sentence in honest.text


def test_traps_stand_at_front_end_and_between() -> None:
    texts = [trap(question(1), ANSWER, Random(seed), Part.SEEN).text for seed in range(100)]
    assert any(text.startswith(ANSWER) for text in texts)
    assert any(text.endswith(ANSWER) for text in texts)
    assert any(text[:5] == ANSWER[:5] and text[-5:] == ANSWER[-5:] for text in texts)


def test_parts_share_no_trap() -> None:
    seen, held_out = (
        {trap(question(1), "", Random(seed), part).text for seed in range(1500)} for part in Part
    )
    assert not seen & held_out
    assert len(seen) > 300
    assert len(held_out) > 150


def test_rules_of_the_parts_have_no_text_in_common() -> None:
    rules = read("traps").rules
    assert not {*rules[Part.SEEN]["trap"]} & {*rules[Part.HELD_OUT]["trap"]}


def test_a_fragment_stands_on_a_line_of_its_own() -> None:
    for seed in range(500):
        text = trap(question(1), "Both keep an order.", Random(seed), Part.SEEN).text
        woven = text.replace("Both keep an order.", "").strip()
        if not woven.endswith((".", "!", "?")):
            assert "\n" in text
