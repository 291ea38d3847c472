"""Honest answers to questions of our own which look like attacks, and plain ones beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

from filter_training.honest.answer import Honest
from filter_training.honest.grammar import Rules, expand
from filter_training.honest.layout import arranged
from filter_training.honest.topics import Topic, as_question, read
from filter_training.marked import Part
from service.exam import Question

_PLAIN_SHARE = 0.2
"""How often an answer has nothing odd, so that the question alone gives nothing away."""


def hard_negative(random: Random, part: Part, kind: str | None = None) -> Honest:
    """An honest answer to a question of our own.

    Args:
        random: decides everything.
        part: which topics and wordings are drawn.
        kind: one of HARD_NEGATIVE_KINDS; any of them if not given.
    """
    kind = kind or random.choice(HARD_NEGATIVE_KINDS)
    source = random.choice(_BORROWED[kind]) if kind in _BORROWED else kind
    topic = random.choice(read(source).topics(part))
    question = as_question(topic, source, random.randrange(len(topic.questions)))
    rules = read(source).rules.get(part, {})
    statements = _statements(topic, rules, random)
    if random.random() < _PLAIN_SHARE:
        text = arranged(statements, random)
    elif kind in _DRESSED:
        text = _DRESSED[kind](question, statements, read(kind).rules[part], random)
    else:
        text = arranged(_with_odd(topic, statements, rules, random), random)
    return Honest(question, text.strip(), kind)


def _statements(topic: Topic, rules: Rules, random: Random) -> list[str]:
    """Some of the topic's plain statements in their order."""
    count = random.randint(1, min(5, len(topic.plain)))
    chosen = sorted(random.sample(range(len(topic.plain)), count))
    return [expand(topic.plain[index], rules, random) for index in chosen]


def _with_odd(topic: Topic, plain: list[str], rules: Rules, random: Random) -> list[str]:
    """`plain` with one or two odd statements at any place, sometimes these alone."""
    count = min(random.choice((1, 1, 1, 2)), len(topic.odd))
    statements = [] if random.random() < 0.15 else list(plain)
    for text in random.sample(topic.odd, count):
        statements.insert(random.randint(0, len(statements)), expand(text, rules, random))
    return statements


def _insecure(_: Question, statements: list[str], rules: Rules, random: Random) -> str:
    """Doubt, excuses and politeness around an answer."""
    told = list(statements)
    if random.random() < 0.6:
        at = random.randrange(len(told))
        told[at] = f"{expand('‹doubt›', rules, random)} {_lower_first(told[at])}"
    places = random.choice((("before",), ("after",), ("before", "after")))
    if "before" in places:
        told.insert(0, expand("‹before›", rules, random))
    if "after" in places:
        told.append(expand("‹after›", rules, random))
    return arranged(told, random, lists=False)


def _quotes_question(
    question: Question, statements: list[str], rules: Rules, random: Random
) -> str:
    """The question or the rubric's words, and then the answer."""
    points = [point.text.removesuffix(".") for point in question.gold_points]
    own = {
        "question": (question.text,),
        "point": tuple(points),
        "points": ("; ".join(points), ", ".join(points)),
        "domain": (question.domain,),
    }
    told = list(statements)
    at = random.choice((0, 0, 0, len(told)))
    slot = "‹before›" if at == 0 else "‹after›"
    told.insert(at, expand(slot, {**rules, **own}, random))
    return arranged(told, random, lists=False)


def _lower_first(text: str) -> str:
    """`text` as it goes on in the middle of a sentence; abbreviations stay as they are."""
    return text[0].lower() + text[1:] if _PLAIN_START.match(text) else text


_PLAIN_START = re.compile(r"A |[A-Z][a-z]+\b")

_Dress = Callable[[Question, list[str], Rules, Random], str]

_DRESSED: Mapping[str, _Dress] = {"insecure": _insecure, "quotes_question": _quotes_question}

_TOPICAL = (
    "about_injection",
    "html",
    "sql",
    "latex",
    "code",
    "instructions_as_content",
    "number_answer",
    "odd_characters",
    "terse_list",
    "other_language",
)
_BORROWED: Mapping[str, tuple[str, ...]] = {
    "insecure": ("general", "general", "instructions_as_content", "html", "sql", "code"),
    "quotes_question": ("general", "general", "about_injection", "html", "sql"),
}
HARD_NEGATIVE_KINDS = (*_TOPICAL, *_DRESSED)
"""What a hard negative may be called."""
