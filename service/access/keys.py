"""API keys: what is known of one, and the secret that its holder shows."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

_TOKEN = re.compile(r"ste_([0-9a-f]{12})_[0-9a-f]{64}")
_PREFIX_BYTES = 6
_SECRET_BYTES = 32


class Role(StrEnum):
    """What a key may do; a key can have several."""

    GRADE = "grade"
    """Have answers graded and filtered, and register the questions for it."""
    READ = "read"
    """See what is registered and what was judged."""
    AUDIT = "audit"
    """All that `read` may, and see how the service itself does."""
    ADMIN = "admin"
    """Everything."""


@dataclass(frozen=True)
class KeyLimits:
    """What a key may ask at most; None where the settings say it.

    Attributes:
        requests_per_minute: in place of the setting of that name.
        max_body_bytes: longest body of a request or batch; the settings' limits hold too.
    """

    requests_per_minute: int | None = None
    max_body_bytes: int | None = None


@dataclass(frozen=True)
class ApiKey:
    """All that is kept of a key, but its hash.

    Attributes:
        prefix: beginning of the key, by which people name it; no secret.
        name: who or what uses it.
        roles: at least one.
        exams: ids of the exams that it reaches; None where it reaches all.
        created_at, expires_at, revoked_at: moments with a time zone.
        limits: of its own.
    """

    prefix: str
    name: str
    roles: frozenset[Role]
    exams: frozenset[str] | None
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    limits: KeyLimits = KeyLimits()

    def state(self, now: datetime) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= now else "active"


@dataclass(frozen=True)
class IssuedKey:
    """A key at the only moment at which its secret is known."""

    key: ApiKey
    token: str = field(repr=False)


def draw_token() -> tuple[str, str]:
    """A new prefix, and the whole key that begins with it."""
    prefix = f"ste_{secrets.token_hex(_PREFIX_BYTES)}"
    return prefix, f"{prefix}_{secrets.token_hex(_SECRET_BYTES)}"


def prefix_of(token: str) -> str | None:
    """The prefix of what looks like a key, else None."""
    return token.rpartition("_")[0] if _TOKEN.fullmatch(token) else None


def hash_token(token: str) -> bytes:
    """What is kept of a key, 32 bytes.

    A plain SHA-256: its 256 random bits cannot be guessed, so a slow or salted hash, which makes
    guesses of passwords dear, would only make every request slow.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
