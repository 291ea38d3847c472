from __future__ import annotations

from dataclasses import replace
from itertools import chain

from service.graph.statements import row_of, statements
from service.records import Erasure, Inclusion, Record
from tests.service.graph import sample


def graded(answer: str) -> list[Record]:
    """The records of one answer as the ledger logs a request that grades nothing else."""
    received = sample.submission(f"sub-{answer}", "The Moon pulls.", answer=answer)
    made = sample.judgements(received, baseline=4, filtered=4)
    inclusions = [Inclusion(sample.RUN.run_id, judgement.judgement_id) for judgement in made]
    return [received, *made, *inclusions]


def keys(*records: Record) -> list[list[str]]:
    """The keys of the rows of each statement."""
    written = statements(records, stage_labels=False)
    return [[row["key"] for row in rows] for _, rows in written]


def test_answers_that_came_one_by_one_share_their_statements() -> None:
    answers = [f"a{number}" for number in range(40)]
    written = keys(*chain.from_iterable(graded(answer) for answer in answers))
    assert [len(rows) for rows in written] == [40, 120, 120]


def test_of_two_versions_the_later_one_is_written_last() -> None:
    edited = replace(sample.QUESTION, rubric="near side 5, far side 5")
    records = [*graded("a1"), sample.QUESTION, *graded("a2"), edited]
    (_, rows), *_ = statements(records, stage_labels=False)
    assert rows == [row_of(sample.QUESTION), row_of(edited)]


def test_what_came_after_an_erasure_is_written_after_it() -> None:
    erasure = Erasure("Tides", "a1", "Prof. Ebb", "Ana asked for it", sample.WHEN)
    assert keys(*graded("a1"), erasure, *graded("a1")) == [
        *keys(*graded("a1")),
        ["Tides/a1"],
        *keys(*graded("a1")),
    ]
