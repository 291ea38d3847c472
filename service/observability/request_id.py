"""The id by which the log lines of one request are found."""

from __future__ import annotations

import re
from contextvars import ContextVar
from uuid import uuid4

HEADER = "X-Request-ID"

_VALID = re.compile(r"[A-Za-z0-9._-]{1,64}")

current: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Id of the request that is served, None outside of any."""


def accepted(given: str | None) -> str:
    """The given id where it can do no harm in a log or a header, else a new one."""
    return given if given is not None and _VALID.fullmatch(given) else uuid4().hex
