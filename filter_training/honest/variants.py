"""Variants of an honest answer that mean the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

from filter_training.honest.answer import Honest
from filter_training.honest.grammar import expand
from filter_training.honest.topics import read
from filter_training.marked import Part
from service.exam import Question

UNCHANGED = "unchanged"
"""The kind of a variant of an answer that is blank."""

# Not behind "e.g.", "i.e.", "vs." or a number or letter that counts.
_STOP = r"(?<=[.!?])(?<![ei]\.[ge]\.)(?<!\bvs\.)(?<!\b\w\.)"
_SENTENCE_GAP = re.compile(rf"{_STOP}\s+(?=\S)")
_SENTENCE_END = re.compile(rf"{_STOP}\s+(?=\S)|\n+(?=\S)")
_LIST_MARK = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", re.M)
_LONG_WORD = re.compile(r"\b[a-z]{5,}\b")
_FINAL_STOP = re.compile(r"[.!]+$")


def benign_variant(question: Question, answer: str, random: Random, part: Part) -> Honest:
    """`answer` told in another way: never blank, unless `answer` is, and never the same text."""
    text = answer.strip()
    if not text:
        return Honest(question, text, UNCHANGED)
    for kind in random.sample(VARIANT_KINDS, len(VARIANT_KINDS)):
        variant = _KINDS[kind](text, random, part).strip()
        if variant and variant != text:
            return Honest(question, variant, kind)
    return Honest(question, _framing(text, random, part), "framing")


def _spelling(text: str, random: Random, part: Part) -> str:
    """A few slips in long words: those of one part are not those of the other."""
    words = list(_LONG_WORD.finditer(text))
    slips = _SLIPS[part]
    chosen = random.sample(words, min(len(words), random.randint(1, max(1, len(words) // 6))))
    for word in sorted(chosen, key=lambda match: -match.start()):
        text = text[: word.start()] + random.choice(slips)(word[0], random) + text[word.end() :]
    return text


def _dropped_letter(word: str, random: Random) -> str:
    at = random.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _swapped_letters(word: str, random: Random) -> str:
    at = random.randrange(1, len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _doubled_letter(word: str, random: Random) -> str:
    at = random.randrange(1, len(word))
    return word[:at] + word[at] + word[at:]


def _neighbour_key(word: str, random: Random) -> str:
    at = random.randrange(1, len(word))
    return word[:at] + random.choice(_NEIGHBOURS[word[at]]) + word[at + 1 :]


def _by_ear(word: str, random: Random) -> str:
    """As somebody writes it who knows it from hearing."""
    heard = [(old, new) for old, new in _BY_EAR if old in word]
    if not heard:
        return _neighbour_key(word, random)
    old, new = random.choice(heard)
    return word.replace(old, new, 1)


def _order(text: str, random: Random, part: Part) -> str:
    """Sentences swapped (seen), or the text begun at another sentence (held out)."""
    sentences = _SENTENCE_GAP.split(text)
    if len(sentences) < 2 or "\n" in "".join(sentences) or _LIST_MARK.search(text):
        return text
    if part is Part.SEEN:
        one, other = random.sample(range(len(sentences)), 2)
        sentences[one], sentences[other] = sentences[other], sentences[one]
    else:
        start = random.randrange(1, len(sentences))
        sentences = sentences[start:] + sentences[:start]
    closed = all(sentence.endswith((".", "!", "?")) for sentence in sentences)
    return (random.choice((" ", "\n")) if closed else "\n").join(sentences)


def _wording(text: str, random: Random, part: Part) -> str:
    """Function words and connectives replaced; technical terms are not in the table."""
    rules = read("variants").rules[part]
    for pair in random.sample(rules["words"], len(rules["words"])):
        old, new = pair.split(" = ")
        if random.random() < 0.7:
            text = re.sub(rf"\b{re.escape(old)}\b", new, text)
            text = re.sub(rf"\b{re.escape(_capital(old))}\b", _capital(new), text)
    return text


def _bullets(text: str, random: Random, part: Part) -> str:
    """Sentences as a list, or a list as running text."""
    if _LIST_MARK.search(text):
        lines = [line.strip() for line in _LIST_MARK.sub("", text).splitlines()]
        return " ".join(line for line in lines if line)
    sentences = _SENTENCE_END.split(text)
    mark = random.choice(_MARKS[part])
    return "\n".join(f"{mark.format(index)} {line}" for index, line in enumerate(sentences, 1))


def _case(text: str, random: Random, part: Part) -> str:
    """All lower case, or (seen) no capitals at the beginning, or (held out) all upper case."""
    if random.random() < 0.6:
        return text.lower()
    if part is Part.HELD_OUT:
        return text.upper() if len(text) < 200 else text.lower()
    parts = re.split(r"((?<=[.!?])\s+|\n+)", text)
    return "".join(piece[:1].lower() + piece[1:] for piece in parts)


def _punctuation(text: str, random: Random, part: Part) -> str:
    return random.choice(_PUNCTUATIONS[part])(text)


def _hedged(text: str, random: Random, part: Part) -> str:
    hedge = expand("‹hedge›", read("variants").rules[part], random)
    follows = text[0].lower() + text[1:] if re.match(r"[A-Z][a-z]* [a-z]|A [a-z]", text) else text
    return f"{hedge} {follows}"


def _framing(text: str, random: Random, part: Part) -> str:
    rules = read("variants").rules[part]
    gap = random.choice((" ", "\n"))
    if random.random() < 0.6:
        return expand("‹before›", rules, random) + gap + text
    return text + gap + expand("‹after›", rules, random)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_NEIGHBOURS = {
    key: row[max(0, at - 1) : at] + row[at + 1 : at + 2]
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for at, key in enumerate(row)
}
_BY_EAR = (
    ("ie", "ei"), ("ph", "f"), ("ence", "ance"), ("ance", "ence"), ("tion", "sion"),
    ("ck", "k"), ("ll", "l"), ("ss", "s"), ("ee", "ea"), ("ea", "ee"), ("able", "ible"),
    ("wh", "w"), ("ight", "ite"), ("tt", "t"), ("rr", "r"), ("c", "k"), ("z", "s"),
)  # fmt: skip
_MARKS = {Part.SEEN: ("-", "*", "{}."), Part.HELD_OUT: ("•", "{})", "+", "({})")}

_Slip = Callable[[str, Random], str]
_SLIPS: Mapping[Part, tuple[_Slip, ...]] = {
    Part.SEEN: (_dropped_letter, _swapped_letters, _doubled_letter),
    Part.HELD_OUT: (_neighbour_key, _by_ear),
}

_PUNCTUATIONS: Mapping[Part, tuple[Callable[[str], str], ...]] = {
    Part.SEEN: (
        lambda text: _FINAL_STOP.sub("", text),
        lambda text: _SENTENCE_GAP.sub("  ", text),
        lambda text: _SENTENCE_END.sub("\n", text),
        lambda text: re.sub(r",(?= [a-z])", "", text),
    ),
    Part.HELD_OUT: (
        lambda text: _FINAL_STOP.sub("", text) + "!",
        lambda text: _SENTENCE_END.sub("\n\n", text),
        lambda text: _FINAL_STOP.sub("", text) + " .",
        lambda text: re.sub(r"(?<=[a-z]{3})\. (?=[A-Z])", "; ", text),
    ),
}

_Rewrite = Callable[[str, Random, Part], str]
_KINDS: Mapping[str, _Rewrite] = {
    "spelling": _spelling,
    "order": _order,
    "wording": _wording,
    "bullets": _bullets,
    "case": _case,
    "punctuation": _punctuation,
    "hedged": _hedged,
    "framing": _framing,
}
VARIANT_KINDS = tuple(_KINDS)
"""What a variant of an answer may be called."""
