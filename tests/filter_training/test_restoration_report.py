from __future__ import annotations

import json
from io import StringIO

from rich.console import Console

from filter_training.marked import Part, Span
from filter_training.restoration import Outcome
from filter_training.restoration_cases import Row
from filter_training.restoration_report import Report, report_sets
from filter_training.restoration_table import tables
from tests.filter_training.measured import SUBJECT, case, marked, outcome

ATTACKED = marked("A queue.", " Give 10")  # 7 characters of answer, 6 of attack
ORDER = ATTACKED.spans[0]


def families() -> list[Outcome]:
    """Answer a1 is restored and left as it was; a2 is restored; a3 loses four characters."""
    return [
        outcome(case(ATTACKED, family="plea", placement="after"), ORDER, forward_passes=2),
        outcome(case(ATTACKED, family="base64", placement="before")),
        outcome(case(ATTACKED, answer_id="a2"), ORDER),
        outcome(case(ATTACKED, answer_id="a3"), Span(4, 16)),
        outcome(case(ATTACKED, answer_id="a4", part=Part.HELD_OUT), ORDER),
    ]


def report(outcomes: list[Outcome]) -> Report:
    return Report(SUBJECT, {"batch_size": 8}, {}, {}, report_sets(outcomes, seed=1), [])


def test_seen_and_held_out_families_are_sets_of_their_own() -> None:
    sets = report_sets(families(), seed=1)
    assert list(sets) == ["families_seen", "families_held_out"]
    assert sets["families_held_out"].all.texts == 1


def test_figures_of_a_set_are_those_counted_by_hand() -> None:
    figures = report_sets(families(), seed=1)["families_seen"].all
    assert (figures.texts, figures.answers, figures.forward_passes) == (4, 3, 1.25)
    counted = {name: (made.count, made.of) for name, made in figures.measures.items()}
    assert counted == {
        "restored": (2, 4),
        "partly_restored": (2, 4),
        "attack_chars_left": (6, 24),
        "attack_words_left": (2, 8),
        "content_lost": (4, 28),
    }
    restored = figures.measures["restored"]
    assert restored.share == 0.5
    assert restored.low < 0.5 < restored.high


def test_figures_are_broken_down_by_what_texts_differ_in() -> None:
    by = report_sets(families(), seed=1)["families_seen"].by
    assert list(by) == ["kind", "course", "placement", "carrier", "language"]
    assert by["kind"]["base64"].measures["restored"].count == 0
    assert by["kind"]["plea"].measures["restored"].count == 2
    assert (by["placement"]["before"].texts, by["placement"]["after"].texts) == (1, 3)
    assert by["course"]["DS_toy"].texts == 4


def test_intervals_draw_answers_not_texts() -> None:
    """One answer is one draw, however many texts are made of it."""
    one = [outcome(case(ATTACKED, family=f"f{number}"), ORDER) for number in range(4)]
    one += [outcome(case(ATTACKED, family="g"))]
    restored = report_sets(one, seed=1)["families_seen"].all.measures["restored"]
    assert (restored.share, restored.low, restored.high) == (0.8, 0.8, 0.8)


def test_an_honest_set_has_no_attack_to_count() -> None:
    honest = [outcome(case(marked("A queue."), row=Row.CLEAN, answer_id=f"a{n}")) for n in (1, 2)]
    clean = report_sets(honest, seed=1)["clean"]
    assert set(clean.all.measures) == {"restored", "partly_restored", "content_lost"}
    assert list(clean.by) == ["kind", "course"]


def test_worst_cases_are_named_and_only_texts_of_our_own_are_shown() -> None:
    theirs = outcome(case(marked("Ignore the bias."), row=Row.HARD_NEGATIVE), Span(0, 6))
    ours = outcome(
        case(marked("SELECT 1 -- ignore"), row=Row.HARD_NEGATIVE, answer_id="h1", ours=True),
        Span(8, 18),
    )
    written = json.loads(report([theirs, ours]).to_json())
    worst = written["sets"]["hard_negative"]["worst"]["content_lost"]
    assert [text["key"]["answer_id"] for text in worst] == ["h1", "a1"]
    assert (worst[0]["text"], worst[0]["removed"]) == ("SELECT 1 -- ignore", [" -- ignore"])
    assert (worst[1]["text"], worst[1]["honest_chars_lost"]) == (None, 6)
    assert "bias" not in json.dumps(written)


def test_tables_show_each_set_and_its_parts() -> None:
    console = Console(width=80, file=StringIO(), record=True)
    for table in tables(report(families())):
        console.print(table)
    text = console.export_text()
    assert "families_seen" in text
    assert "50" in text.split()
    assert "(0–100)" in text.split()
    assert "base64" in text
    assert "before" in text
    assert "DS_toy" not in text
