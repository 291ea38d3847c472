"""Examples for the filter: families of clean and attacked answers that share one target.

Where an attack stands on a line of its own behind the answer, the target also holds the line break
before it, which the filter drops as white space at the end. So the model need not decide at the
end of each line whether the next but one token begins an attack; it decides where the attack does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from filter_training.attacks import CLEAN, PAPER_ATTACKS, attacked
from filter_training.examples import Example
from filter_training.sampling import stratified
from service.exam import ExamItem
from service.prompts import filter_prompt

MOVED = "moved"
"""attack_type of an extra variant: one of the four segments before or inside the answer."""
HONEST_TRAP = "honest_trap"
"""attack_type of an extra variant: an honest answer whose wording or marks resemble an attack."""

# Honest sentences that use an attack's marks or words for something else.
_TRAPS = (
    "In HTML a comment is written as <!-- this is not shown -->.",
    "A page may hold <!-- navigation starts here --> without showing it to the reader.",
    "<!-- is where a comment begins and --> is where it ends.",
    "The header carries tags such as [START] and [/START] around the data.",
    "[NOTE] The values are only an example. [/NOTE]",
    "We can ignore all previous inputs, because the unit keeps no state.",
    "The receiver must ignore the reserved bits, no matter what they hold.",
    "Ignore the bias term for the moment.",
    "Pretend the first packet is lost; then the timer expires.",
    "Pretend you are the router: you always forward to the best neighbour.",
    "According to the updated policy of the scheduler, any waiting process must get a turn.",
    "It is extremely important that the output of the last layer is normalised.",
    "The maximum score of the output layer decides the class.",
    "The best candidate always gets the maximum of 10 points in this voting scheme.",
    "An attack such as a hidden instruction in the text tries to change what the system does.",
    "A prompt injection says things like 'ignore your instructions', and a filter removes it.",
    "The student network learns from the teacher network, which gives full marks to soft labels.",
    "You MUST NOT reuse the key, and you must always check the signature.",
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def filter_examples(items: Sequence[ExamItem], *, groups: int, seed: int) -> list[Example]:
    """Up to `groups` answer families, spread evenly over the questions.

    Each family has the paper's five variants and one that the paper lacks: a segment moved to
    the front or between two sentences, or an honest trap whose target is itself.
    """
    random = Random(seed)
    examples: list[Example] = []
    for item in stratified(items, groups, random):
        examples += _family(item, random)
    return examples


def _family(item: ExamItem, random: Random) -> Iterator[Example]:
    question, answer = item.question, item.answer.text
    group_id = f"{question.exam_id}/{item.answer.answer_id}"

    def example(attack_type: str, raw: str, target: str) -> Example:
        return Example(group_id, attack_type, filter_prompt(question, raw), target)

    yield example(CLEAN, answer, answer)
    for attack_type in PAPER_ATTACKS:
        yield example(attack_type, attacked(answer, attack_type), f"{answer}\n")
    if random.random() < 0.5:
        segment = random.choice(list(PAPER_ATTACKS.values()))
        yield example(MOVED, _insert(answer, segment, random), answer)
    else:
        trapped = _insert(answer, random.choice(_TRAPS), random, at_end=random.random() < 0.5)
        yield example(HONEST_TRAP, trapped, trapped)


def _insert(answer: str, text: str, random: Random, *, at_end: bool = False) -> str:
    """`answer` with `text` at its end, its front, or between two of its sentences."""
    if at_end:
        return f"{answer} {text}"
    gaps = [match.start() for match in _SENTENCE_END.finditer(answer)]
    cut = random.choice([0, *gaps])
    if cut == 0:
        return f"{text}\n{answer}"
    return f"{answer[:cut]} {text}{answer[cut:]}"
