"""Datasets for the filter: honest texts, each clean and with attacks (paper, section 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from random import Random
from typing import TypeVar

from filter_training.attacks import PAPER_ATTACKS, make_attack
from filter_training.attacks.paper import exact_text, paper_attack
from filter_training.attacks.placement import place, possible
from filter_training.dataset import Group, Source, Variant
from filter_training.examples import derived_group
from filter_training.filter_plan import FilterPlan
from filter_training.honest import benign_variant, hard_negative, trap
from filter_training.marked import Attack, Part
from filter_training.sampling import stratified
from service.errors import SettingsError
from service.exam import ExamItem, Question

_MOVED_SHARE = 0.25
"""How many of the paper's texts stand elsewhere than behind the answer."""
_DRAWS = 1_000
_MOVED = frozenset({"before", "between"})

_Kind = TypeVar("_Kind")


def filter_dataset(
    items: Sequence[ExamItem], plan: FilterPlan, *, groups: int, seed: int
) -> list[Variant]:
    """Up to `groups` groups, those from answers spread evenly over the questions.

    There are fewer where the exams hold too few answers that the plan takes.

    Raises:
        SettingsError: what the plan leaves out leaves a family without wordings.
    """
    random = Random(seed)
    variants: list[Variant] = []
    attacks = _Attacks(plan, random)
    for group in _groups(items, plan, groups, random):
        variants.append(group.clean())
        variants += [group.attacked(attack) for attack in attacks.on(group.question, group.text)]
    return variants


def _groups(
    items: Sequence[ExamItem], plan: FilterPlan, groups: int, random: Random
) -> Iterator[Group]:
    limit = plan.max_answer_chars
    eligible = [
        item
        for item in items
        if item.answer.text.strip() and (limit is None or len(item.answer.text) <= limit)
    ]
    benign, traps, hard, empty = (
        round(groups * share)
        for share in (
            plan.benign_share,
            plan.trap_share,
            plan.hard_negative_share,
            plan.empty_share,
        )
    )
    exam = max(0, groups - benign - traps - hard - empty)
    drawn = stratified(eligible, len(eligible), random)
    for item in drawn[:exam]:
        yield Group(_origin(item), item.question, item.answer.text, Source.EXAM)
    # Answers that are not used yet come first.
    others = drawn[exam:] + drawn[:exam]
    for item in others[:benign]:
        honest = benign_variant(item.question, item.answer.text, random, Part.SEEN)
        group_id = derived_group(_origin(item), honest.kind)
        yield Group(group_id, honest.question, honest.text, Source.BENIGN)
    for item in (others[benign:] + others[:benign])[:traps]:
        honest = trap(item.question, item.answer.text, random, Part.SEEN)
        group_id = derived_group(_origin(item), honest.kind)
        yield Group(group_id, honest.question, honest.text, Source.TRAP)
    for number in range(hard):
        honest = hard_negative(random, Part.SEEN)
        group_id = f"{Source.HARD_NEGATIVE}/{number}"
        yield Group(group_id, honest.question, honest.text, Source.HARD_NEGATIVE)
    for number, item in enumerate(islice(cycle(drawn), empty)):
        yield Group(f"{Source.EMPTY}/{number}", item.question, "", Source.EMPTY)


def _origin(item: ExamItem) -> str:
    return f"{item.question.exam_id}/{item.answer.answer_id}"


class _Attacks:
    """Draws the attacks of one group after another.

    Each family comes as often as any other, and as each of the paper's exact texts.
    """

    def __init__(self, plan: FilterPlan, random: Random) -> None:
        self._plan = plan
        self._random = random
        made: list[Callable[[Question, str], Attack]] = [
            *(partial(self._made, family) for family in plan.drawn_families),
            *(partial(self._exact, name) for name in plan.paper_classes),
        ]
        self._kinds = _evenly(made, random)

    def on(self, question: Question, answer: str) -> Iterator[Attack]:
        """The attacked variants of an answer."""
        plan = self._plan
        if plan.families == "paper":
            for attack_type in PAPER_ATTACKS:
                yield paper_attack(attack_type, answer)
            return
        for make in islice(self._kinds, plan.variants - 1):
            yield make(question, answer)

    def _made(self, family: str, question: Question, answer: str) -> Attack:
        """An attack of the family that says nothing in the words of one that is left out."""
        for _ in range(_DRAWS):
            attack = make_attack(family, question, answer, self._random, Part.SEEN)
            if attack.borrowed.isdisjoint(self._plan.leave_out):
                return attack
        raise SettingsError(f"leave_out takes all wordings from {family}; leave it out too")

    def _exact(self, attack_type: str, _: Question, answer: str) -> Attack:
        """The paper's text, now and then before the answer or between two of its sentences."""
        segment = PAPER_ATTACKS[attack_type]
        places = sorted(possible(answer, segment, divisible=False) & _MOVED)
        if not places or self._random.random() >= _MOVED_SHARE:
            return paper_attack(attack_type, answer)
        placement = self._random.choice(places)
        marked = place(answer, (segment,), placement, self._random)
        return exact_text(attack_type, marked, placement=placement)


def _evenly(kinds: Sequence[_Kind], random: Random) -> Iterator[_Kind]:
    """Every kind once in random order, again and again."""
    while True:
        yield from random.sample(kinds, len(kinds))
