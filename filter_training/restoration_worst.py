"""The texts where a filter went most wrong, with what it took and what it left made visible."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from filter_training.marked import Span
from filter_training.restoration import Outcome

WORST_KINDS: Mapping[str, Callable[[Outcome], int]] = MappingProxyType(
    {
        "attack_left": lambda outcome: outcome.score.attack_chars_left,
        "content_lost": lambda outcome: outcome.score.honest_chars_lost,
    }
)
"""What may go wrong → how much it did, in characters."""

_SHOWN = 10
_HEADER = """\
# Worst cases

For reading on this machine only: it holds answers of students. Neither publish nor commit it.

`{+attack that was left+}` `[-answer that was lost-]` `[~attack that was removed~]`; characters
that cannot be seen are written as `\\u{200b}`.
"""
_MARKS = MappingProxyType(
    {
        (False, False): ("", ""),
        (False, True): ("[-", "-]"),
        (True, False): ("{+", "+}"),
        (True, True): ("[~", "~]"),
    }
)
"""(is attack, was removed) → what stands around such text."""


def worst(outcomes: Sequence[Outcome], kind: str) -> list[Outcome]:
    """The ten outcomes where most went wrong in this way, the worst first."""
    amount = WORST_KINDS[kind]
    wrong = [outcome for outcome in outcomes if amount(outcome)]
    return sorted(wrong, key=amount, reverse=True)[:_SHOWN]


def worst_page(outcomes: Sequence[Outcome]) -> str:
    """A Markdown page with the worst outcomes of each set."""
    sets: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        sets.setdefault(outcome.case.test_set, []).append(outcome)
    parts = [_HEADER]
    for name, members in sets.items():
        for kind, amount in WORST_KINDS.items():
            for number, outcome in enumerate(worst(members, kind), start=1):
                if number == 1:
                    parts.append(f"## {name}: {kind.replace('_', ' ')}\n")
                parts.append(_shown(number, outcome, amount(outcome)))
    return "\n".join(parts)


def _shown(number: int, outcome: Outcome, amount: int) -> str:
    key = outcome.case.key
    traits = ", ".join(outcome.case.traits.values())
    diff = "".join(_marked_up(outcome))
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", diff)), default=0))
    return (
        f"{number}. {key.answer_id} ({traits}): {amount} characters\n\n{fence}\n{diff}\n{fence}\n"
    )


def _marked_up(outcome: Outcome) -> Iterator[str]:
    text = outcome.case.marked.text
    attack, removed = _inside(outcome.case.marked.spans), _inside(outcome.removed)
    for state, run in groupby(
        range(len(text)), key=lambda offset: (offset in attack, offset in removed)
    ):
        before, after = _MARKS[state]
        yield before + "".join(_visible(text[offset]) for offset in run) + after


def _inside(spans: Sequence[Span]) -> set[int]:
    return {offset for span in spans for offset in range(span.start, span.end)}


def _visible(character: str) -> str:
    seen = character.isprintable() or character == "\n"
    return character if seen else f"\\u{{{ord(character):x}}}"
