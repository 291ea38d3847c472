"""How students lay statements out on the page."""

from __future__ import annotations

from itertools import pairwise
from random import Random

_CLOSED = (".", "!", "?", ":", "。", '."', ".)", "؟")


def arranged(statements: list[str], random: Random, *, lists: bool = True) -> str:
    """The statements as running text, on lines of their own or as a list.

    Args:
        statements: in order; one that has several lines stays a block of its own.
        random: decides.
        lists: whether bullets and numbers may stand before the statements.
    """
    if any("\n" in text for text in statements):
        return _running(statements)
    styles = [" ", " ", " ", " ", "\n", "\n\n"]
    if lists and len(statements) > 2:
        styles += ["- ", "* ", "1. ", "1) "]
    style = random.choice(styles)
    if style == " ":
        return _running(statements)
    if style.isspace():
        return style.join(statements)
    if style[0] == "1":
        return "\n".join(f"{number}{style[1:]}{text}" for number, text in enumerate(statements, 1))
    return "\n".join(f"{style}{text}" for text in statements)


def _running(statements: list[str]) -> str:
    """One text; blocks, and what follows an open end such as a line of code, begin a line."""
    text = statements[0]
    for before, after in pairwise(statements):
        if "\n" in before or "\n" in after or not before.endswith(_CLOSED):
            text += "\n" + after
        else:
            text += after if before.endswith("。") else f" {after}"
    return text
