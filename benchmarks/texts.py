"""Answers of real exams as students would hand them in, clean and attacked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from filter_training.attacks import CLEAN, PAPER_ATTACKS, attacked
from filter_training.sampling import stratified
from service.exam import UNLABELLED, Answer, ExamItem, Question
from service.exam_file import read_exam
from service.pipeline import GradingPipeline
from service.records import RunKind

_SEED = 1
_PORTION = 64
_LONGEST = 20_000

ChooseAttack = Callable[[int], str]
"""The attack_type of the answer that was drawn n-th."""


@dataclass(frozen=True)
class Text:
    """What a student handed in, and what of it is an answer."""

    question: Question
    answer: Answer
    clean: str


@dataclass(frozen=True)
class Drawn:
    """Answers of an exam, evenly drawn over its questions.

    Attributes:
        sample: those that slow peers are given too.
        whole: all that are measured.
    """

    sample: tuple[Text, ...]
    whole: tuple[Text, ...]


def never(_: int) -> str:
    """No answer is attacked."""
    return CLEAN


def always(number: int) -> str:
    """The paper's four attacks in turn."""
    return list(PAPER_ATTACKS)[number % len(PAPER_ATTACKS)]


def one_in_five(number: int) -> str:
    """The paper's four attacks in turn, on every fifth answer."""
    return CLEAN if number % 5 else always(number // 5)


def read_items(exams: Path, name: str) -> list[ExamItem] | None:
    """The answers of an exam file that say something; None where there is no such file."""
    file = exams / f"{name}.jsonl"
    if not file.exists():
        return None
    return [
        item
        for item in read_exam(file, max_answer_chars=_LONGEST)
        if item.answer.attack_type in (CLEAN, UNLABELLED) and item.answer.text.strip()
    ]


def draw(items: Sequence[ExamItem], choose: ChooseAttack, *, sample: int, whole: int) -> Drawn:
    """The same answers at every call.

    Args:
        items: the answers of an exam.
        choose: which of them are attacked, and how.
        sample: answers of the sample, which is the beginning of the whole.
        whole: most answers of the whole.
    """
    drawn = stratified(items, whole, Random(_SEED))
    texts = tuple(_handed_in(item, choose(number)) for number, item in enumerate(drawn))
    return Drawn(texts[:sample], texts)


def portions(texts: Sequence[Text]) -> Iterator[list[Text]]:
    """The texts as `steadyeval grade` takes those of an exam: one question's together."""
    groups: dict[Question, list[Text]] = {}
    for text in texts:
        groups.setdefault(text.question, []).append(text)
    for group in groups.values():
        for start in range(0, len(group), _PORTION):
            yield group[start : start + _PORTION]


def grade(pipeline: GradingPipeline, texts: Sequence[Text]) -> None:
    """Grade the texts as one run, as `steadyeval grade` does."""
    run = pipeline.new_run(RunKind.BATCH)
    for portion in portions(texts):
        pipeline.grade_many([(text.question, text.answer) for text in portion], run=run)


def clean(pipeline: GradingPipeline, texts: Sequence[Text]) -> None:
    """Filter the texts, as `steadyeval filter` does."""
    for portion in portions(texts):
        pipeline.clean_many([(text.question, text.answer.text) for text in portion])


def _handed_in(item: ExamItem, attack_type: str) -> Text:
    answer = item.answer
    text = attacked(answer.text, attack_type)
    handed_in = Answer(answer.answer_id, answer.student_id, text, attack_type)
    return Text(item.question, handed_in, answer.text)
