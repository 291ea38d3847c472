"""Answers whose injected text is known to the character."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """Which part of the generators a text is drawn from.

    Training draws from `seen` only; wordings, languages and carriers of `held_out` are for
    measuring.
    """

    SEEN = "seen"
    HELD_OUT = "held_out"


@dataclass(frozen=True)
class Span:
    """[start, end) in code points."""

    start: int
    end: int


@dataclass(frozen=True)
class MarkedText:
    """A text and what of it an ideal filter removes.

    Attributes:
        text: the answer as it is handed in.
        spans: ascending, disjoint, not empty; each with the separators that go with it, so that
            `clean` is the answer exactly as it was before the attack.
    """

    text: str
    spans: tuple[Span, ...]

    @property
    def clean(self) -> str:
        """The text without its spans."""
        return without(self.text, self.spans)


@dataclass(frozen=True)
class Attack:
    """An answer with an attack in it, and how the attack was made.

    Attributes:
        marked: the attacked answer.
        attack_type: name of the family.
        part: what its wording, language and carrier were drawn from.
        placement: `after`, `own_line`, `before`, `between`, `mid_sentence`, `around`, `split`.
        carrier: what hides or frames the order (`plain`, `html_comment`, `base64`, …).
        language: ISO 639-1 code of the order.
        borrowed: other families whose wordings it carries.
    """

    marked: MarkedText
    attack_type: str
    part: Part
    placement: str
    carrier: str
    language: str
    borrowed: frozenset[str] = frozenset()


def without(text: str, spans: Iterable[Span]) -> str:
    """`text` with the spans deleted; they are ascending and disjoint."""
    kept: list[str] = []
    done = 0
    for span in spans:
        kept.append(text[done : span.start])
        done = span.end
    return "".join([*kept, text[done:]])
