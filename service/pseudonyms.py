"""Names for students that only the holder of a key can trace back to them."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import replace

from service.exam import Answer, ExamItem

_DIGITS = 32
_PSEUDONYM = re.compile(rf"p-[0-9a-f]{{{_DIGITS}}}")


class Pseudonyms:
    """What students are called in every record: HMAC-SHA-256 (RFC 2104) of their ids, 128 bits.

    Without a key, ids stay as they are. So does what has the form of a pseudonym, so that results
    can be read in again.
    """

    def __init__(self, key: str | None = None) -> None:
        self._key = key

    def of(self, student_id: str) -> str:
        """The pseudonym of a student."""
        if self._key is None or _PSEUDONYM.fullmatch(student_id):
            return student_id
        named = student_id.encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key.encode(), named, hashlib.sha256).hexdigest()
        return f"p-{digest[:_DIGITS]}"

    def answer(self, answer: Answer) -> Answer:
        """The answer under its student's pseudonym."""
        return replace(answer, student_id=self.of(answer.student_id))

    def item(self, item: ExamItem) -> ExamItem:
        """The line of an exam file under its student's pseudonym."""
        return replace(item, answer=self.answer(item.answer))
