"""How an answer is written, told from its text alone by rules that anybody can read.

The rules are crude on purpose: they look at words and marks, need no model, and give the same
styles to the same text everywhere. An answer may have several styles. They exist to see whether a
filter treats some ways of writing otherwise than others, and say nothing about who wrote an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

PLAIN = "plain"
"""The style of an answer that has no other one."""

_TERSE_WORDS = 8
_CODE_SHARE = 0.06
_FOREIGN_SHARE = 0.12
_LIST_LINES = 2

_HEDGE = re.compile(
    r"\b(?:i (?:think|guess|believe|suppose|assume|am not sure|do not know|don['’]?t know)"
    r"|i['’]?m not (?:sure|certain)|not (?:quite |really )?sure|maybe|perhaps|probably|possibly"
    r"|as far as i (?:know|remember)|if i remember|in my opinion|sorry)\b",
    re.I,
)
_CHAT = re.compile(
    r"\b(?:gonna|wanna|gotta|kinda|sorta|ur|dont|doesnt|cant|wont|isnt|thats|btw|thx|pls|lol"
    r"|ok|okay|yeah|yep|nope|stuff|guys|coz|cuz)\b"
    r"|(?<!\w)[:;]-?[)(DP](?!\w)|[!?]{2,}|(?<=[a-z])\.{3,}(?!\S)",
    re.I,
)
_LOWER_SENTENCES = re.compile(r"\s*[a-z][a-z]+\b[^.!?]*(?:[.!?]\s+[a-z][a-z]+\b[^.!?]*)+[.!?]?\s*")
_LEARNER = re.compile(
    r"\b(?:informations|knowledges|softwares|hardwares|datas|feedbacks|advices|equipments)\b"
    r"|\b(?:he|she|it) (?:have|do|make|need|use|take|give|send|get|go|allow|depend)\b"
    r"|\b(?:they|we|these|those) (?:has|does|is|was|makes|needs|uses|takes|gives|sends)\b"
    r"|\b(?:is|are|was|were) (?:depend|consist|exist|happen|belong|contain)s?\b"
    r"|\b(?:does|do|did)(?: not|n['’]t) (?:has|had|does|is|was|needs|uses|makes|gives|sends)\b"
    r"|\b(?:can|must|should|will|could) (?:to|able|has|is|does|uses|makes|needs|gives)\b"
    r"|\b(?:allow|permit|enable)s? to [a-z]+"
    r"|\b(?:depends? (?:of|from)|consists? from|explain me|discuss about|according with)\b"
    r"|\b(?:more (?:better|easier|faster|bigger|smaller|higher|lower)|very much [a-z]+er)\b"
    r"|\b(?:many|several|few) (?:information|knowledge|problem|layer|neuron)\b"
    r"|\ban (?:[bcdfgjklmnpqrtvwyz][a-z]+)\b|\ba (?:[aio][a-z]{2,})\b",
    re.I,
)
_OTHER_LANGUAGE = re.compile(
    r"\b(?:und|der|das|ist|nicht|ein|eine|dem|mit|für|von|zu|werden|wird|sind|durch|oder|auch|bei"
    r"|wenn|dass|kann|nur|le|la|les|une|est|pas|pour|dans|que|qui|avec|sur|el|los|las|una|para|por"
    r"|como|che|non|di|il|sono)\b",
    re.I,
)
_CODE = frozenset("{}[]();=<>_&|\\/*+#^$`")
_LIST_MARK = re.compile(r"^[ \t]*(?:[-*•+]|\(?\d+[.)]|[a-z][.)])[ \t]+\S", re.M)


def _hedged(text: str) -> bool:
    return _HEDGE.search(text) is not None


def _informal(text: str) -> bool:
    return _CHAT.search(text) is not None or _LOWER_SENTENCES.fullmatch(text) is not None


def _terse(text: str) -> bool:
    return 0 < len(text.split()) <= _TERSE_WORDS


def _code_heavy(text: str) -> bool:
    solid = [character for character in text if not character.isspace()]
    return "```" in text or sum(one in _CODE for one in solid) > _CODE_SHARE * len(solid)


def _learner(text: str) -> bool:
    return not _other_language(text) and _LEARNER.search(text) is not None


def _other_language(text: str) -> bool:
    return len(_OTHER_LANGUAGE.findall(text)) > _FOREIGN_SHARE * len(text.split())


def _list(text: str) -> bool:
    return len(_LIST_MARK.findall(text)) >= _LIST_LINES


_RULES: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "hedged": _hedged,
        "non-native": _learner,
        "other language": _other_language,
        "informal": _informal,
        "terse": _terse,
        "list": _list,
        "code-heavy": _code_heavy,
        "empty": lambda text: not text.strip(),
    }
)
STYLES = (*_RULES, PLAIN)
"""All styles, in the order in which tables have them."""


def styles(text: str) -> tuple[str, ...]:
    """The styles of an answer, in the order of `STYLES`; at least one."""
    return tuple(name for name, has in _RULES.items() if has(text)) or (PLAIN,)
