"""Terms that a base model comes under, and the record that somebody accepted them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict

from service.profile import Terms


class Acceptance(BaseModel):
    """Which terms were accepted, and when."""

    model_config = ConfigDict(frozen=True)

    terms: Terms
    accepted_at: AwareDatetime


def is_accepted(terms: Terms, file: Path) -> bool:
    """True if `file` says that exactly these terms were accepted."""
    try:
        return Acceptance.model_validate_json(file.read_bytes()).terms == terms
    except (OSError, ValueError):
        return False


def record_acceptance(terms: Terms, file: Path) -> None:
    """Write down in `file` that these terms were accepted now."""
    acceptance = Acceptance(terms=terms, accepted_at=datetime.now(UTC))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(acceptance.model_dump_json(indent=1), encoding="utf-8")
