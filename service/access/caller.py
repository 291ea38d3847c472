"""Who asks, and what they may."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from service.access.keys import ApiKey, Role
from service.errors import ForbiddenError


@dataclass(frozen=True)
class Caller:
    """Who sent a request.

    Attributes:
        prefix: of the key that came along, None without.
        roles: what the caller may do.
        exams: ids of the exams that the caller reaches; None where it is all.
        max_body_bytes: longest body that the caller may send; None where the settings say it.
    """

    prefix: str | None
    roles: frozenset[Role]
    exams: frozenset[str] | None
    max_body_bytes: int | None = None

    @classmethod
    def with_key(cls, key: ApiKey) -> Self:
        """The holder of a valid key."""
        return cls(key.prefix, key.roles, key.exams, key.limits.max_body_bytes)

    def require_role(self, roles: Iterable[Role]) -> None:
        """Do nothing for a caller with one of `roles`, or an admin.

        Raises:
            ForbiddenError: the caller has neither.
        """
        if self.roles.isdisjoint({Role.ADMIN, *roles}):
            raise ForbiddenError(
                f"this needs a key with the role {' or '.join(roles)}; "
                f"{self.prefix} has {', '.join(sorted(self.roles))}"
            )

    def reaches(self, exam_id: str) -> bool:
        """Whether the caller may grade and read this exam."""
        return self.exams is None or exam_id in self.exams

    def require_exam(self, exam_id: str) -> None:
        """Do nothing for an exam that the caller reaches.

        Raises:
            ForbiddenError: it is another.
        """
        if not self.reaches(exam_id):
            raise ForbiddenError(f"{self.prefix} does not reach exam {exam_id!r}")


LOCAL = Caller(None, frozenset(Role), None)
"""Whoever is on this machine, while no key has been made."""
ANONYMOUS = Caller(None, frozenset(), frozenset())
"""Whoever asks without a key what needs none."""
