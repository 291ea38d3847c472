"""Whether the ledger still is what was written: the file, the chain, and what rests on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from service.errors import LedgerDamagedError
from service.ledger import chain, rows
from service.records import Fault

_KEYS: Mapping[str, str] = {
    "question_version": "exam_id || '/' || question_id",
    "submission": "submission_id",
    "rating": "exam_id || '/' || answer_id || '/' || rater",
    "judgement": "judgement_id",
    "run": "run_id",
    "inclusion": "run_id || '/' || judgement_id",
    "publication": "publication_id",
    "grade_of_record": "exam_id || '/' || answer_id",
    "erasure": "exam_id || '/' || answer_id",
}
"""What names a row to a person, by table."""
_ANSWERS: Mapping[str, str] = {
    "submission": "SELECT exam_id, answer_id, texts_hash FROM submission WHERE row = ?",
    "judgement": """
        SELECT exam_id, answer_id, judgement.texts_hash
        FROM judgement JOIN submission USING (submission_id) WHERE judgement.row = ?
    """,
}
_ERASURES = """
    SELECT exam_id, answer_id, max(seq) FROM erasure JOIN log USING (row) WHERE kind = 'erasure'
    GROUP BY exam_id, answer_id
"""
_RESULTS = f"""
    SELECT result.key, judgements.*, submission.text
    FROM result JOIN ({rows.JUDGEMENTS}) AS judgements USING (judgement_id)
    JOIN submission USING (submission_id)
"""


@dataclass(frozen=True)
class _Entry:
    """A row of the log."""

    seq: int
    kind: str
    row: int
    hash: bytes


def faults(connection: sqlite3.Connection) -> Iterator[Fault]:
    """All records that are not as they were written; none in a good ledger.

    The chain alone cannot show that its newest rows were cut off, or that all of it was written
    anew: a graph knows the hash of the last row that it was sent.

    Args:
        connection: one that sees nothing that is written meanwhile.
    """
    for (problem,) in connection.execute("PRAGMA integrity_check"):
        if problem != "ok":
            yield Fault(None, "the file", problem)
    yield from _chain_faults(connection)
    yield from _unlogged(connection)
    yield from _misleading_results(connection)


def _chain_faults(connection: sqlite3.Connection) -> Iterator[Fault]:
    erased_at = {
        (exam_id, answer_id): seq for exam_id, answer_id, seq in connection.execute(_ERASURES)
    }
    seq, before = 0, chain.origin(connection)
    for entry in (_Entry(*row) for row in connection.execute("SELECT * FROM log ORDER BY seq")):
        if entry.seq != seq + 1:
            yield Fault(seq + 1, "a record", f"the log lacks it and all up to {entry.seq - 1}")
        if entry.kind not in chain.KINDS:
            yield Fault(entry.seq, entry.kind, "there is no such kind of record")
        else:
            content = chain.content(connection, entry.kind, entry.row)
            if chain.link(before, entry.seq, content) != entry.hash:
                yield _fault(connection, entry, "it, or its place, is not what was chained")
            elif entry.kind in chain.ERASABLE:
                yield from _text_faults(connection, entry, erased_at)
        # What comes after is judged by what is chained, so that only what differs is named.
        seq, before = entry.seq, entry.hash


def _text_faults(
    connection: sqlite3.Connection, entry: _Entry, erased_at: Mapping[tuple[str, str], int]
) -> Iterator[Fault]:
    found = connection.execute(_ANSWERS[entry.kind], (entry.row,)).fetchone()
    if found is None:
        yield _fault(connection, entry, "its submission is gone")
        return
    exam_id, answer_id, expected = found
    texts = chain.texts(connection, entry.kind, entry.row)
    if entry.seq < erased_at.get((exam_id, answer_id), 0):
        if any(text is not None for text in texts):
            yield _fault(connection, entry, "it has texts, but they were erased")
        return
    salt = connection.execute(
        "SELECT salt FROM salt WHERE exam_id = ? AND answer_id = ?", (exam_id, answer_id)
    ).fetchone()
    if salt is None:
        yield _fault(connection, entry, "its answer has no salt, so its texts cannot be checked")
    elif chain.texts_hash(salt["salt"], texts) != expected:
        yield _fault(connection, entry, "its texts are not what was chained")


def _unlogged(connection: sqlite3.Connection) -> Iterator[Fault]:
    for kind in chain.KINDS:
        unlogged = connection.execute(
            f"SELECT {_KEYS[kind]} FROM {kind} "
            "WHERE row NOT IN (SELECT row FROM log WHERE kind = ?)",
            (kind,),
        )
        for (key,) in unlogged:
            yield Fault(None, f"{kind} {key}", "the log lacks it")


def _misleading_results(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Judgements that answers with other texts would be given."""
    for row in connection.execute(_RESULTS):
        name = f"judgement {row['judgement_id']}"
        try:
            judgement = rows.read_judgement(connection, row)
        except LedgerDamagedError as error:
            yield Fault(None, name, str(error))
        else:
            if judgement.erased or judgement.result_key(row["text"] or "") != row["key"]:
                yield Fault(None, name, "it is found as the result of others")


def _fault(connection: sqlite3.Connection, entry: _Entry, reason: str) -> Fault:
    row = connection.execute(
        f"SELECT {_KEYS[entry.kind]} FROM {entry.kind} WHERE row = ?", (entry.row,)
    ).fetchone()
    name = f"{entry.kind} {'that is gone' if row is None else row[0]}"
    return Fault(entry.seq, name, reason)
