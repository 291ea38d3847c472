"""Callers with keys of their own."""

from __future__ import annotations

from datetime import timedelta

from service.access import Role
from service.api.backend import Backend


def key_of(backend: Backend, *roles: Role, exams: frozenset[str] | None = None) -> dict[str, str]:
    """The header with a new key of these roles."""
    issued = backend.keys.create("test", frozenset(roles), exams=exams, lifetime=timedelta(hours=1))
    return {"Authorization": f"Bearer {issued.token}"}
