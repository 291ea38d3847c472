"""The results of a job: its own order, the ledger's records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from service.errors import LedgerDamagedError
from service.jobs.job import Item
from service.jobs.store import JobStore
from service.ledger import Ledger
from service.pipeline import GradedAnswer

_PAGE = 100


@dataclass(frozen=True)
class Ungraded:
    """An answer without a grade: it failed, or the job was cancelled before its turn."""

    item: Item


def results(store: JobStore, ledger: Ledger, job_id: str) -> Iterator[GradedAnswer | Ungraded]:
    """Every answer of a job, in its order.

    Raises:
        JobStoreError: the file of jobs cannot be read.
        LedgerError: the ledger cannot be read.
    """
    place = 0
    while page := store.items(job_id, place, _PAGE):
        for item in page:
            yield _result(ledger, item)
        place = page[-1].position


def _result(ledger: Ledger, item: Item) -> GradedAnswer | Ungraded:
    if item.baseline_id is None or item.filtered_id is None:
        return Ungraded(item)
    filtered = ledger.judgement(item.filtered_id)
    if filtered.based_on is None:
        raise LedgerDamagedError(f"judgement {filtered.judgement_id} is based on nothing")
    return GradedAnswer(
        submission=ledger.submission(filtered.submission_id),
        question=item.question,
        baseline=ledger.judgement(item.baseline_id),
        filter=ledger.judgement(filtered.based_on),
        filtered=filtered,
    )
