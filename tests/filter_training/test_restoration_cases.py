from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from filter_training.attacks import PAPER_ATTACKS
from filter_training.attacks.paper import paper_attack
from filter_training.marked import Part
from filter_training.red_team import Finding
from filter_training.restoration_cases import OTHER_FAMILIES, Case, Plan, Row
from filter_training.sampling import stratified
from tests.filter_training.world import items

ITEMS = stratified(items(questions=3, students=4), 8, Random(1))
ANSWERS = {item.answer.answer_id: item.answer.text for item in ITEMS}
FINDINGS = [
    Finding(item.question, paper_attack("stealth", item.answer.text).marked, "found")
    for item in ITEMS
]
PLAN = Plan(ITEMS, 1, own_texts=8, findings=FINDINGS)


def cases(*rows: Row) -> list[Case]:
    return PLAN.cases(rows)


@pytest.mark.parametrize("row", list(Row))
def test_every_row_has_at_least_a_text_for_each_answer(row: Row) -> None:
    made = cases(row)
    assert len(made) >= len(ITEMS)
    assert len({case.key for case in made}) == len(made)
    assert {case.key.row for case in made} == {row}


@pytest.mark.parametrize("row", [Row.PAPER, Row.HELD_OUT, Row.FAMILIES])
def test_an_attacked_text_without_its_attack_is_the_answer(row: Row) -> None:
    for case in cases(row):
        assert case.marked.spans
        assert case.marked.clean == ANSWERS[case.key.answer_id]


def test_findings_of_a_red_team_are_measured_as_they_were_marked() -> None:
    made = cases(Row.RED_TEAM)
    assert [(case.question, case.marked, case.kind) for case in made] == [
        (finding.question, finding.marked, "found") for finding in FINDINGS
    ]


def test_texts_of_the_paper_are_exact() -> None:
    made = {(case.key.answer_id, case.kind): case.marked.text for case in cases(Row.PAPER)}
    assert made == {
        (answer_id, name): f"{text}\n{segment}"
        for answer_id, text in ANSWERS.items()
        for name, segment in PAPER_ATTACKS.items()
    }


def test_honest_texts_have_nothing_to_remove() -> None:
    honest = cases(Row.CLEAN, Row.BENIGN, Row.HARD_NEGATIVE)
    assert all(case.marked.clean == case.marked.text for case in honest)
    clean = {case.key.answer_id: case.marked.text for case in honest if case.kind == "clean"}
    assert clean == ANSWERS


def test_only_hard_negatives_of_our_own_are_ours() -> None:
    made = cases(*Row)
    ours = [case for case in made if case.ours]
    assert len(ours) == PLAN.own_texts
    assert {case.key.exam_id for case in ours} == {"own"}
    woven = [case for case in made if case.key.row is Row.HARD_NEGATIVE and not case.ours]
    assert {case.key.answer_id for case in woven} == set(ANSWERS)


def test_held_out_wordings_are_of_the_four_classes() -> None:
    made = cases(Row.HELD_OUT)
    assert Counter(case.kind for case in made) == dict.fromkeys(PAPER_ATTACKS, len(ITEMS))
    assert all(case.attack and case.attack.part is Part.HELD_OUT for case in made)


def test_families_have_as_many_texts_as_each_other_in_both_parts() -> None:
    counts = Counter((case.test_set, case.kind) for case in cases(Row.FAMILIES))
    assert set(counts) == {
        (f"families_{part}", family) for part in Part for family in OTHER_FAMILIES
    }
    assert len(set(counts.values())) == 1


def test_families_can_be_chosen() -> None:
    few = Plan(ITEMS, 1, OTHER_FAMILIES[:2], own_texts=8).cases([Row.FAMILIES])
    assert {case.kind for case in few} == set(OTHER_FAMILIES[:2])


def test_texts_rest_on_the_seed_and_not_on_what_else_is_measured() -> None:
    alone = {case.key: case.marked for case in cases(Row.HELD_OUT)}
    among = {case.key: case.marked for case in cases(*Row) if case.key.row is Row.HELD_OUT}
    assert alone == among
    other = {case.key: case.marked for case in Plan(ITEMS, 2, own_texts=8).cases([Row.HELD_OUT])}
    assert other.keys() == alone.keys()
    assert other != alone
