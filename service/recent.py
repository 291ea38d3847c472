"""What a pipeline without a ledger remembers: its latest results."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

from service.errors import InputError
from service.exam import Answer, Question
from service.judgement import Judgement
from service.ledger.erasure import AnswerKey
from service.records import Run, Submission


class RecentJudgements:
    """Judgements by what decides their result. Safe to use from many threads.

    Args:
        most: how many are kept; the one that was not needed for longest goes first.
    """

    def __init__(self, most: int = 1024) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Judgement] = OrderedDict()
        self._lock = Lock()

    def admit(self, items: Sequence[tuple[Question, Answer]]) -> list[bytes | InputError]:
        """An empty salt for each answer."""
        return [b""] * len(items)

    def find(self, judgement_id: str) -> Judgement | None:  # noqa: ARG002
        """Nothing: no record binds, and who asks again is given the result again."""
        return None

    def find_result(self, key: bytes) -> Judgement | None:
        """The first Judgement that was kept with this result."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def record(
        self,
        run: Run,  # noqa: ARG002
        questions: Sequence[Question],  # noqa: ARG002
        submissions: Sequence[Submission],
        judgements: Sequence[Judgement],
        admitted: Mapping[AnswerKey, bytes],  # noqa: ARG002
    ) -> None:
        """Keep each Judgement, unless one with the same result is here."""
        raw = {submission.submission_id: submission.text for submission in submissions}
        with self._lock:
            for judgement in judgements:
                key = judgement.result_key(raw[judgement.submission_id])
                self._kept.setdefault(key, judgement)
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
