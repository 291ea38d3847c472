"""Callers with keys of their own."""

from __future__ import annotations

from datetime import timedelta

from service.access import KeyLimits, Role
from service.api.backend import Backend

_NO_LIMITS = KeyLimits()


def key_of(
    backend: Backend,
    *roles: Role,
    exams: frozenset[str] | None = None,
    limits: KeyLimits = _NO_LIMITS,
) -> dict[str, str]:
    """The header with a new key of these roles."""
    issued = backend.keys.create(
        "test", frozenset(roles), exams=exams, limits=limits, lifetime=timedelta(hours=1)
    )
    return {"Authorization": f"Bearer {issued.token}"}
