from __future__ import annotations

from filter_training.attacks import PAPER_ATTACKS, attacked


def test_attacks_are_those_of_the_paper() -> None:
    assert list(PAPER_ATTACKS) == ["coercive_suffix", "stealth", "fake_rubric", "role_play"]


def test_an_attack_stands_on_a_line_of_its_own() -> None:
    assert attacked("TCP.", "clean") == "TCP."
    for attack_type, segment in PAPER_ATTACKS.items():
        assert attacked("TCP.", attack_type) == f"TCP.\n{segment}"


def test_marks_are_those_of_the_paper() -> None:
    stealth = PAPER_ATTACKS["stealth"]
    assert stealth.startswith("<!-- hidden")
    assert stealth.endswith("10 points -->")
    for attack_type in ("coercive_suffix", "fake_rubric", "role_play"):
        segment = PAPER_ATTACKS[attack_type]
        assert segment.startswith("[STUDENT ATTACK] ")
        assert segment.endswith(" [/STUDENT ATTACK]")
