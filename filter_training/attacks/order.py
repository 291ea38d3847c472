"""What a family injects, before it has a place in an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from filter_training.attacks.grammar import Grammar
from service.exam import Question, format_score

_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)


_SENTENCE_START = re.compile(r"(?:^|(?<=[a-z)][.!?] ))\w")


@dataclass(frozen=True)
class Order:
    """A text that tries to control the grader.

    Attributes:
        text: without white space around it, never empty.
        carrier: what frames or hides it; `plain` if nothing does.
        language: ISO 639-1 code.
        divisible: it still reads as an order when the answer stands between its halves.
        borrowed: the other families whose wordings it holds.
    """

    text: str
    carrier: str = "plain"
    language: str = "en"
    divisible: bool = True
    borrowed: frozenset[str] = frozenset()


def facts(question: Question, random: Random) -> Mapping[str, str]:
    """The slots that depend on the question: its best score, one close to it, the worst."""
    scale = question.scale
    best = float(scale.max_points) if random.random() < 0.85 else 10.0
    near = max(best - 1, 1.0)
    whole = best.is_integer() and best < len(_NUMBER_WORDS)
    return {
        "max": format_score(best),
        "max_word": _NUMBER_WORDS[int(best)] if whole else format_score(best),
        "near": format_score(near),
        "low": format_score(scale.min_score),
    }


def worded(grammar: Grammar, question: Question, random: Random) -> str:
    """One sentence of the grammar for this question, as neat or careless as students write."""
    text = grammar.draw(random, facts(question, random))
    return roughened(_SENTENCE_START.sub(lambda match: match[0].upper(), text), random)


def roughened(text: str, random: Random) -> str:
    """`text`, at times in capitals or lower case, with typing errors or other end marks."""
    roll = random.random()
    if roll < 0.06:
        text = text.upper()
    elif roll < 0.16:
        text = text.lower()
    elif roll < 0.24:
        text = _mistyped(text, random)
    if random.random() < 0.12:
        text = text.rstrip(".") + random.choice(("", "", "", "!", "!!!", "...", " :)"))
    return text


def _mistyped(text: str, random: Random) -> str:
    """One to three letters lost, doubled or swapped."""
    letters = list(text)
    for _ in range(random.randint(1, 3)):
        places = [
            index
            for index in range(1, len(letters) - 1)
            if all(letter.isalpha() for letter in letters[index - 1 : index + 2])
        ]
        if not places:
            break
        at = random.choice(places)
        kind = random.randrange(3)
        if kind == 0:
            del letters[at]
        elif kind == 1:
            letters.insert(at, letters[at])
        else:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
    return "".join(letters)
