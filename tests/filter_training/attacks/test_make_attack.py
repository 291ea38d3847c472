from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from filter_training.attacks import FAMILIES, make_attack
from filter_training.marked import Attack, Part
from service.engine.base import Cut
from service.filter import with_separators
from tests.filter_training.world import SENTENCES, question

QUESTION = question(1)
ANSWERS = st.one_of(
    st.text(alphabet=st.sampled_from(list("ab1.,:!?\n\r\t \u00a0\u2028üß的")), max_size=40),
    st.lists(st.sampled_from(SENTENCES), min_size=1).map(" ".join),
    st.lists(st.sampled_from(SENTENCES), min_size=1).map("\n".join),
).map(str.strip)


def attack(family: str, answer: str, seed: int, part: Part) -> Attack:
    return make_attack(family, QUESTION, answer, Random(seed), part)


@given(
    family=st.sampled_from(list(FAMILIES)),
    answer=ANSWERS,
    seed=st.integers(0, 10**6),
    part=st.sampled_from(Part),
)
def test_perfect_cuts_give_the_answer_back(family: str, answer: str, seed: int, part: Part) -> None:
    made = attack(family, answer, seed, part)
    text, spans = made.marked.text, made.marked.spans
    assert made.marked.clean == answer
    assert all(one.end <= other.start for one, other in pairwise(spans))
    inner = []
    for span in spans:
        injected = text[span.start : span.end]
        assert injected.strip()
        start = span.start + len(injected) - len(injected.lstrip())
        inner.append(Cut(start, start + len(injected.strip()), 1.0))
    assert [(cut.start, cut.end) for cut in with_separators(text, inner)] == [
        (span.start, span.end) for span in spans
    ]


@given(
    family=st.sampled_from(list(FAMILIES)),
    answer=st.text(max_size=30),
    seed=st.integers(0, 10**6),
)
def test_deleting_the_spans_gives_any_answer_back(family: str, answer: str, seed: int) -> None:
    assert attack(family, answer, seed, Part.SEEN).marked.clean == answer
