"""Where in a text something that was put there may begin or end, and how likely that is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from service.engine.tokens import DraftToken

_EDGE, _LINE, _SENTENCE, _MARK, _CLAUSE, _WORD, _TIGHT = 2.0, 2.0, 3.0, 5.0, 6.0, 8.0, 12.0
"""What the tokens of a cut must outweigh for each of its two borders (in nats): at either end of
the text, at a line break, behind a sentence, at a bracket, quote or rule, behind a colon or
comma, between words, and where no white space stands. Found on validation questions."""

_REACH = 40
"""So many characters on either side decide."""

_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*$")
_CLAUSE_END = re.compile(r"[:;,][\"'”’)\]]*$")
_MARK_BEGINS = re.compile(r"[(\[{<|`\"“„«'‘]|[#%=*/~_-]{2}")
_MARK_ENDED = re.compile(r"(?:[)\]}>|`\"”»'’]|[#%=*/~_-]{2})$")


def border_costs(text: str, tokens: Sequence[DraftToken]) -> list[float]:
    """The cost of a border before each token, and behind the last one: one more than tokens."""
    return [*(border_cost(text, token.start) for token in tokens), _EDGE]


def border_cost(text: str, at: int) -> float:
    """The cost of a border at an offset of `text`; infinite inside a word."""
    before, after = text[max(at - _REACH, 0) : at], text[at : at + _REACH]
    shown, ahead = before.rstrip(), after.lstrip()
    gap = before[len(shown) :] + after[: len(after) - len(ahead)]
    if "\n" in gap or "\r" in gap:
        return _LINE
    if not shown or not ahead:
        return _EDGE
    if not gap:
        inside = shown[-1].isalnum() and ahead[0].isalnum()
        return math.inf if inside else _TIGHT
    if _SENTENCE_END.search(shown):
        return _SENTENCE
    if _MARK_BEGINS.match(ahead) or _MARK_ENDED.search(shown):
        return _MARK
    return _CLAUSE if _CLAUSE_END.search(shown) else _WORD
