"""Whether a graph says what the ledger says, record by record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from service.exam import Question
from service.graph.statements import Row, row_of
from service.graph.store import GraphStore
from service.judgement import Judgement
from service.records import (
    Fault,
    GradeOfRecord,
    Inclusion,
    LoggedRecord,
    Publication,
    Rating,
    Record,
    Run,
    Submission,
)

_AT_ONCE = 500


@dataclass(frozen=True)
class _Look:
    """How a kind of record is found in the graph.

    `cypher` takes `$keys` and gives each one's properties and, under the name of each
    relationship, the keys of its neighbours. `neighbours` names the same in a record's row.
    """

    name: str
    cypher: str
    neighbours: Mapping[str, str] = field(default_factory=dict)


_LOOKS: Mapping[type, _Look] = {
    Question: _Look(
        "question",
        """
        MATCH (n:Question) WHERE n.key IN $keys
        OPTIONAL MATCH (n)<-[:HAS_QUESTION]-(exam:Exam)
        RETURN n.key AS key, properties(n) AS properties,
               collect(DISTINCT exam.exam_id) AS HAS_QUESTION
        """,
        {"HAS_QUESTION": "exam_id"},
    ),
    Submission: _Look(
        "submission",
        """
        MATCH (n:Submission) WHERE n.submission_id IN $keys
        OPTIONAL MATCH (n)-[:OF]->(answer:Answer)
        OPTIONAL MATCH (answer)<-[:GAVE]-(student:Student)
        OPTIONAL MATCH (answer)-[:ANSWERS]->(question:Question)
        OPTIONAL MATCH (n)-[:PREVIOUS]->(previous:Submission)
        RETURN n.submission_id AS key, properties(n) AS properties,
               collect(DISTINCT answer.key) AS OF, collect(DISTINCT student.key) AS GAVE,
               collect(DISTINCT question.key) AS ANSWERS,
               collect(DISTINCT previous.submission_id) AS PREVIOUS
        """,
        {
            "OF": "answer_key",
            "GAVE": "student_key",
            "ANSWERS": "question_key",
            "PREVIOUS": "previous",
        },
    ),
    Rating: _Look(
        "human score",
        """
        MATCH (n:HumanScore) WHERE n.key IN $keys
        OPTIONAL MATCH (n)-[:SCORES]->(answer:Answer)
        RETURN n.key AS key, properties(n) AS properties, collect(DISTINCT answer.key) AS SCORES
        """,
        {"SCORES": "answer_key"},
    ),
    Run: _Look(
        "run",
        "MATCH (n:Run) WHERE n.run_id IN $keys RETURN n.run_id AS key, properties(n) AS properties",
    ),
    Judgement: _Look(
        "judgement",
        """
        MATCH (n:Judgement) WHERE n.judgement_id IN $keys
        OPTIONAL MATCH (n)-[:JUDGES]->(submission:Submission)
        OPTIONAL MATCH (n)-[:BASED_ON]->(filter:Judgement)
        RETURN n.judgement_id AS key, properties(n) AS properties,
               collect(DISTINCT submission.submission_id) AS JUDGES,
               collect(DISTINCT filter.judgement_id) AS BASED_ON
        """,
        {"JUDGES": "submission_id", "BASED_ON": "based_on"},
    ),
    Publication: _Look(
        "publication",
        """
        MATCH (n:Publication) WHERE n.publication_id IN $keys
        OPTIONAL MATCH (n)-[:OF_RUN]->(run:Run)
        RETURN n.publication_id AS key, properties(n) AS properties,
               collect(DISTINCT run.run_id) AS OF_RUN
        """,
        {"OF_RUN": "run_id"},
    ),
}
_INCLUSIONS = """
MATCH (run:Run)-[:INCLUDES]->(judgement:Judgement) WHERE judgement.judgement_id IN $keys
RETURN judgement.judgement_id, run.run_id
"""
_PUBLISHED = """
MATCH (publication:Publication)-[:PUBLISHES]->(judgement:Judgement)
WHERE judgement.judgement_id IN $keys
RETURN judgement.judgement_id, publication.publication_id
"""
_POINTERS = """
MATCH (answer:Answer)-[:GRADE_OF_RECORD]->(judgement:Judgement)
RETURN answer.key, judgement.judgement_id
"""
_SOME_IDS = """
MATCH (n:{label}) WHERE n.{key} > $after RETURN n.{key} ORDER BY n.{key} LIMIT 5000
"""
_IDS: Mapping[type[Record], str] = {
    Judgement: "judgement_id",
    Submission: "submission_id",
    Run: "run_id",
    Publication: "publication_id",
}
_LEDGERS = "MATCH (ledger:Ledger) RETURN count(ledger)"


class RecordedLedger(Protocol):
    """The part of a ledger that a graph is compared with."""

    def portions(self, last_seq: int) -> Iterator[list[LoggedRecord]]:
        """All records up to place `last_seq`, in writing order."""

    def unknown(self, kind: type[Record], ids: Sequence[str]) -> list[str]:
        """Those of some ids that no record of a kind has."""


def differences(store: GraphStore, ledger: RecordedLedger, last_seq: int) -> Iterator[Fault]:
    """Records that the graph lacks or has otherwise, and those that it alone has.

    Where several ledgers fill a graph, what it alone has may be another's and is not told.

    Args:
        store: the graph.
        ledger: what it should say; records behind those of `last_seq` may be there or not.
        last_seq: the place that the graph has reached.

    Raises:
        GraphError: the graph cannot be asked.
    """
    # Of these the newest version counts: they are compared when all have been seen.
    versions: dict[tuple[type, str], LoggedRecord] = {}
    pointers: dict[str, LoggedRecord] = {}
    for records in ledger.portions(last_seq):
        for logged in records:
            record = logged.record
            if isinstance(record, Question | Rating):
                versions[type(record), _key(record)] = logged
            if isinstance(record, GradeOfRecord):
                pointers[_key(record)] = logged
        yield from _nodes_that_differ(store, records, (Submission, Run, Judgement, Publication))
        yield from _missing_pairs(store, records)
    newest = list(versions.values())
    for start in range(0, len(newest), _AT_ONCE):
        yield from _nodes_that_differ(store, newest[start : start + _AT_ONCE], (Question, Rating))
    alone = store.query(_LEDGERS).rows == [(1,)]
    yield from _wrong_pointers(store, pointers, alone=alone)
    if alone:
        for kind, key in _IDS.items():
            yield from _unknown(store, ledger, kind, key)


def _nodes_that_differ(
    store: GraphStore, records: Sequence[LoggedRecord], kinds: Sequence[type]
) -> Iterator[Fault]:
    for kind in kinds:
        expected = {_key(one.record): one for one in records if type(one.record) is kind}
        if not expected:
            continue
        look = _LOOKS[kind]
        result = store.query(look.cypher, {"keys": list(expected)})
        found = {row[0]: dict(zip(result.columns, row, strict=True)) for row in result.rows}
        for key, logged in expected.items():
            if reason := _difference(row_of(logged.record), found.get(key), look.neighbours):
                yield Fault(logged.seq, f"{look.name} {key}", reason)


def _difference(row: Row, found: Row | None, neighbours: Mapping[str, str]) -> str | None:
    if found is None:
        return "the graph lacks it"
    properties = found["properties"]
    differing = [
        name
        for name, value in row.get("properties", {}).items()
        if not _equal(value, properties.get(name))
    ]
    for relationship, name in neighbours.items():
        wanted = row[name] if isinstance(row[name], list) else [row[name]]
        if found[relationship] != wanted:
            differing.append(relationship)
    return f"the graph has another {', '.join(differing)}" if differing else None


def _missing_pairs(store: GraphStore, records: Sequence[LoggedRecord]) -> Iterator[Fault]:
    """Relationships that are records of their own."""
    for kind, cypher, other in (
        (Inclusion, _INCLUSIONS, "run_id"),
        (GradeOfRecord, _PUBLISHED, "publication_id"),
    ):
        expected = {
            (row["judgement_id"], row[other]): one.seq
            for one in records
            if type(one.record) is kind
            for row in [vars(one.record)]
        }
        if expected:
            keys = list({judgement for judgement, _ in expected})
            found = set(store.query(cypher, {"keys": keys}).rows)
            for pair, seq in expected.items():
                if pair not in found:
                    name = f"judgement {pair[0]} in {other.removesuffix('_id')} {pair[1]}"
                    yield Fault(seq, name, "the graph lacks it")


def _wrong_pointers(
    store: GraphStore, pointers: Mapping[str, LoggedRecord], *, alone: bool
) -> Iterator[Fault]:
    found: dict[str, list[str]] = {}
    for answer, judgement in store.query(_POINTERS).rows:
        found.setdefault(answer, []).append(judgement)
    for answer, logged in pointers.items():
        if found.pop(answer, []) != [row_of(logged.record)["judgement_id"]]:
            yield Fault(
                logged.seq, f"grade of record of {answer}", "the graph lacks it or has another"
            )
    if alone:
        for answer in found:
            yield Fault(None, f"grade of record of {answer}", "it is in the graph alone")


def _unknown(
    store: GraphStore, ledger: RecordedLedger, kind: type[Record], key: str
) -> Iterator[Fault]:
    after = ""
    cypher = _SOME_IDS.format(label=kind.__name__, key=key)
    while ids := [name for (name,) in store.query(cypher, {"after": after}).rows]:
        for name in ledger.unknown(kind, ids):
            yield Fault(None, f"{kind.__name__.lower()} {name}", "it is in the graph alone")
        after = ids[-1]


def _key(record: Record) -> str:
    return str(row_of(record)["key"])


def _equal(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, datetime) and isinstance(found, datetime):
        # ArcadeDB keeps milliseconds.
        return abs((wanted - found).total_seconds()) < 0.001
    return bool(wanted == found)
