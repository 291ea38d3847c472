"""The latest results, so that an answer that came before is not computed again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from service.judgement import Judgement

_Key = tuple[str, str, str, str]


class RecentJudgements:
    """Judgements by what decides their result. Safe to use from many threads.

    Args:
        most: how many are kept; the one that was not needed for longest goes first.
    """

    def __init__(self, most: int = 1024) -> None:
        self._most = most
        self._kept: OrderedDict[_Key, Judgement] = OrderedDict()
        self._lock = Lock()

    def find(
        self, model_fingerprint: str, decoding: str, prompt: str, text: str
    ) -> Judgement | None:
        """The first Judgement that was kept with this model, decoding, prompt and text."""
        key = (model_fingerprint, decoding, prompt, text)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, judgement: Judgement, text: str) -> None:
        """Keep a Judgement of `text`, unless one with the same result is here."""
        key = (judgement.model_fingerprint, judgement.decoding, judgement.prompt, text)
        with self._lock:
            self._kept.setdefault(key, judgement)
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
