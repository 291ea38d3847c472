"""Grades every variant of every answer through every pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from evaluation.run_journal import RunDescription, RunJournal, ScoreKey, ScoreLine
from evaluation.variants import VariantPlan
from filter_training.sampling import by_question
from service.errors import InputError
from service.exam import Answer, ExamItem, Question
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from service.records import Run, RunKind
from service.stages import Models

_AT_ONCE = 64
"""Texts to one question that a pipeline is given together."""


class ComparedPipeline(GradingPipeline):
    """Grades and records as the guarded pipeline does, with filter and grader of another one."""

    def __init__(self, models: Models, *, ledger: Ledger) -> None:
        super().__init__(models.engine, ledger=ledger)
        self._models = models


def procedure(models: Models) -> str:
    """How a pipeline filters and grades, in words that change with it."""
    return f"{models.filter.procedure}, {models.grader.decoding}"


def grade_variants(
    pipelines: Mapping[str, Models],
    items: Sequence[ExamItem],
    plan: VariantPlan,
    *,
    ledger: Ledger,
    journal: RunJournal,
    report: Callable[[int], None],
) -> None:
    """Grade what the journal does not know yet.

    Args:
        pipelines: name → its models.
        items: the answers.
        plan: which variants to make of each.
        ledger: gets exam, Judgements and one Run for each pipeline.
        journal: scores so far; gets the new ones as they come.
        report: gets the number of scores that are there, whenever it grew.

    Raises:
        EngineError: a model call failed.
        LedgerError: the Judgements cannot be recorded.
    """
    ledger.register(items)
    compared = {
        name: (ComparedPipeline(models, ledger=ledger), _run(journal.description, name))
        for name, models in pipelines.items()
    }
    report(len(journal))
    for portion in _portions(items, plan):
        for name, (pipeline, run) in compared.items():
            asked = [
                (question, answer)
                for question, answer in portion
                if ScoreKey(name, question.exam_id, answer.answer_id, answer.attack_type)
                not in journal
            ]
            if asked:
                journal.append(_scores(name, pipeline, run, asked))
                report(len(journal))


def _run(description: RunDescription, pipeline: str) -> Run:
    number = list(description.pipelines).index(pipeline) + 1
    return Run(
        f"{description.run_id}/{number}-{pipeline}",
        RunKind.EVALUATION,
        pipeline,
        description.started_at,
    )


def _portions(
    items: Sequence[ExamItem], plan: VariantPlan
) -> Iterator[list[tuple[Question, Answer]]]:
    """Answers to one question share their prompt's head; all variants of an answer are together."""
    step = max(_AT_ONCE // len(plan.names), 1)
    for group in by_question(items).values():
        for start in range(0, len(group), step):
            yield [
                (item.question, answer)
                for item in group[start : start + step]
                for answer in plan.variants(item)
            ]


def _scores(
    name: str, pipeline: GradingPipeline, run: Run, asked: Sequence[tuple[Question, Answer]]
) -> list[ScoreLine]:
    """A line for each answer, in their order."""
    lines: dict[ScoreKey, ScoreLine] = {}

    def refuse(question: Question, answer: Answer, _: InputError) -> None:
        line = ScoreLine.refused(name, question, answer)
        lines[line.key] = line

    for graded in pipeline.grade_many(asked, run=run, on_refused=refuse):
        line = ScoreLine.of(name, graded)
        lines[line.key] = line
    keys = (
        ScoreKey(name, question.exam_id, answer.answer_id, answer.attack_type)
        for question, answer in asked
    )
    return [lines[key] for key in keys]
