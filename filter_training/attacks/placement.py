"""Where in an answer an order stands.

The answer filter lets one separator go with what it cuts (`service.filter.with_separators`). Each
place here inserts exactly that separator beside the order, so that a perfect cut gives an answer
without white space around it back to the character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from filter_training.marked import MarkedText, Span
from service.filter import LINE_BREAK

PLACEMENTS = ("after", "own_line", "before", "between", "mid_sentence", "around", "split")

ANYWHERE: Mapping[str, int] = MappingProxyType(
    dict(zip(PLACEMENTS, (21, 24, 13, 14, 10, 6, 12), strict=True))
)
MOSTLY_BEHIND: Mapping[str, int] = MappingProxyType(
    dict(zip(PLACEMENTS, (28, 40, 9, 9, 4, 6, 4), strict=True))
)
"""Placement → its weight."""

_GAP = re.compile(r"(?<=\S)\s+(?=\S)")
_SENTENCE_END = re.compile(r"[.!?:;。！？]['\")\]]?$")
_LINE_SEPARATORS = ("\n", "\n", "\n", "\n\n")


@dataclass(frozen=True)
class _Insertion:
    """A text that goes into the answer at an offset; all of it is the attack's span."""

    at: int
    text: str


def possible(answer: str, order: str, *, divisible: bool) -> frozenset[str]:
    """The placements that this answer and order allow."""
    if not answer.strip():
        return frozenset({"after"})
    allowed = {"after", "own_line", "before", "around"}
    inner = [_is_border(answer, gap) for gap in _GAP.finditer(answer)]
    if True in inner:
        allowed.add("between")
    if False in inner:
        allowed.add("mid_sentence")
    if divisible and inner and len(order.split()) >= 4:
        allowed.add("split")
    return frozenset(allowed)


def place(answer: str, orders: Sequence[str], placement: str, random: Random) -> MarkedText:
    """`answer` with the orders in it.

    Args:
        answer: the honest answer; blank only with the placement `after`.
        orders: one order, or two where the placement is `around` or `split`.
        placement: one of those that are `possible`.
        random: chooses the gap and the separators.
    """
    return _marked(answer, list(_insertions(answer, orders, placement, random)))


def halves(order: str, random: Random) -> tuple[str, str]:
    """An order of at least four words, cut between two words near its middle."""
    gaps = list(re.finditer(r"\s+", order))
    gap = random.choice(gaps[len(gaps) // 3 : max(len(gaps) // 3 + 1, 2 * len(gaps) // 3)])
    return order[: gap.start()], order[gap.end() :]


def _insertions(
    answer: str, orders: Sequence[str], placement: str, random: Random
) -> Iterator[_Insertion]:
    gaps = list(_GAP.finditer(answer))
    if placement == "before":
        yield _front(orders[0], random)
    elif placement == "around":
        yield _front(orders[0], random)
        yield _back(answer, orders[1], random.choice((" ", *_LINE_SEPARATORS)))
    elif placement == "split":
        places = sorted(random.sample(range(-1, len(gaps) + 1), 2))
        for order, index in zip(orders, places, strict=True):
            if index == -1:
                yield _front(order, random)
            elif index == len(gaps):
                yield _back(answer, order, random.choice((" ", "\n")))
            else:
                yield _into(gaps[index], order, random)
    elif placement in ("between", "mid_sentence"):
        border = placement == "between"
        fitting = [gap for gap in gaps if _is_border(answer, gap) == border]
        yield _into(random.choice(fitting), orders[0], random)
    else:
        separators = (" ",) if placement == "after" else _LINE_SEPARATORS
        yield _back(answer, orders[0], random.choice(separators) if answer.strip() else "")


def _front(order: str, random: Random) -> _Insertion:
    return _Insertion(0, order + random.choice((" ", *_LINE_SEPARATORS)))


def _back(answer: str, order: str, separator: str) -> _Insertion:
    return _Insertion(len(answer), separator + order)


def _into(gap: re.Match[str], order: str, random: Random) -> _Insertion:
    """The order in a gap of the answer whose own white space is what the filter leaves."""
    if not LINE_BREAK.search(gap[0]):
        return _Insertion(gap.end(), order + " ")
    if random.random() < 0.25:
        return _Insertion(gap.start(), " " + order)
    return _Insertion(gap.end(), order + random.choice((" ", "\n", "\n", "\n")))


def _is_border(answer: str, gap: re.Match[str]) -> bool:
    """True if a sentence or a line ends at the gap."""
    return bool(
        LINE_BREAK.search(gap[0])
        or _SENTENCE_END.search(answer[max(0, gap.start() - 2) : gap.start()])
    )


def _marked(answer: str, insertions: Sequence[_Insertion]) -> MarkedText:
    parts: list[str] = []
    spans: list[Span] = []
    done = length = 0
    for insertion in insertions:
        kept = answer[done : insertion.at]
        parts += [kept, insertion.text]
        start = length + len(kept)
        length = start + len(insertion.text)
        spans.append(Span(start, length))
        done = insertion.at
    return MarkedText("".join([*parts, answer[done:]]), tuple(spans))
