"""The stages of the pipeline for a batch of answers: find, compute, share.

Greedy decoding is a function of the prompt, so a prompt that was answered is not asked again:
a Judgement that is recorded is found by its id, and equal questions to the model, of a batch and
of all that is recorded, share one result. Each stage of each answer still gets a complete record
of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Protocol, TypeVar

from service.engine.base import Engine, Role
from service.errors import InputError
from service.exam import Answer, Question
from service.filter import AnswerFilter
from service.grader import Grader
from service.judgement import Judgement, Stage, judgement_id, result_key, submission_id
from service.ledger.erasure import AnswerKey
from service.observability import metrics, tracing
from service.prompts import PROMPT_VERSION, grading_prompt
from service.records import Run, Submission

REUSED_FROM_CACHE = "cache"
"""`reused_from` of a result that was computed for another student."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Records(Protocol):
    """Where Judgements are recorded and found again, such as the ledger."""

    def admit(self, items: Sequence[tuple[Question, Answer]]) -> list[bytes | InputError]:
        """The salt of each answer, or why it cannot be graded."""

    def find(self, judgement_id: str) -> Judgement | None:
        """A Judgement by its id, if there is one."""

    def find_result(self, key: bytes) -> Judgement | None:
        """A Judgement by the key of its result, whoever it is of, if there is one."""

    def record(
        self,
        run: Run,
        questions: Sequence[Question],
        submissions: Sequence[Submission],
        judgements: Sequence[Judgement],
        admitted: Mapping[AnswerKey, bytes],
    ) -> None:
        """Write a run and all that it includes: all or nothing.

        Raises:
            ErasedError: an answer was erased since it was admitted with its salt.
        """


@dataclass(frozen=True)
class Models:
    """A model in its two roles, or a model for each.

    Attributes:
        engine: what is closed with the pipeline.
        grader: grades on its own engine.
        filter: filters on its own engine.
    """

    engine: Engine
    grader: Grader
    filter: AnswerFilter


@dataclass(frozen=True)
class Refusal:
    """An answer that cannot be graded, and why."""

    question: Question
    answer: Answer
    error: InputError


@dataclass(eq=False)
class Case:
    """An answer on its way through the stages."""

    question: Question
    answer: Answer
    salt: bytes
    submission: Submission
    judgements: dict[Stage, Judgement] = field(default_factory=dict)

    @property
    def key(self) -> AnswerKey:
        """What names the answer."""
        return AnswerKey(self.question.exam_id, self.answer.answer_id)


@dataclass(frozen=True, eq=False)
class _Task:
    """One stage of one answer."""

    case: Case
    stage: Stage
    text: str
    prompt: str
    fingerprint: str
    decoding: str
    based_on: str | None = None

    @cached_property
    def judgement_id(self) -> str:
        return judgement_id(
            self.case.salt,
            submission=self.case.submission.submission_id,
            stage=self.stage,
            prompt=self.prompt,
            prompt_version=PROMPT_VERSION,
            model_fingerprint=self.fingerprint,
            decoding=self.decoding,
            based_on=self.based_on,
        )

    @cached_property
    def result_key(self) -> bytes:
        return result_key(
            self.text,
            stage=self.stage,
            prompt=self.prompt,
            prompt_version=PROMPT_VERSION,
            model_fingerprint=self.fingerprint,
            decoding=self.decoding,
        )

    @property
    def question(self) -> tuple[str, str]:
        return self.case.question.exam_id, self.case.question.question_id

    @property
    def item(self) -> tuple[Question, str]:
        return self.case.question, self.text


class Batch:
    """Answers that are judged together.

    Attributes:
        cases: answers with a Judgement of every stage, in the order of the items.
        refusals: the other answers.
    """

    def __init__(
        self,
        models: Models,
        records: Records,
        items: Sequence[tuple[Question, Answer]],
    ) -> None:
        self._models = models
        self._records = records
        self._known: dict[bytes, Judgement] = {}
        self.cases: list[Case] = []
        self.refusals: list[Refusal] = []
        self._admit(items)
        # The filter comes first, so that raw and cleaned texts are graded in one model call.
        with tracing.span("filter", {"answers": len(self.cases)}):
            self._judge([self._filter_task(case) for case in self.cases], self._clean)
        baseline = [self._baseline_task(case) for case in self.cases]
        filtered = [self._filtered_task(case) for case in self.cases]
        with tracing.span("grade", {"answers": len(self.cases)}):
            self._judge([*baseline, *filtered], self._grade)

    def _admit(self, items: Sequence[tuple[Question, Answer]]) -> None:
        storable = []
        for question, answer in items:
            try:
                _check_unicode(question, answer)
                storable.append((question, answer))
            except InputError as error:
                self.refusals.append(Refusal(question, answer, error))
        admitted = self._records.admit(storable)
        for (question, answer), salt in zip(storable, admitted, strict=True):
            if isinstance(salt, InputError):
                self.refusals.append(Refusal(question, answer, salt))
            else:
                submission = _submission(salt, question, answer)
                self.cases.append(Case(question, answer, salt, submission))

    def _filter_task(self, case: Case) -> _Task:
        text = case.submission.text
        engine = self._models.filter.engine
        return _Task(
            case=case,
            stage=Stage.FILTER,
            text=text,
            prompt=engine.render(self._models.filter.prompt(case.question, text)),
            fingerprint=engine.fingerprint(Role.FILTER),
            decoding=self._models.filter.procedure,
        )

    def _baseline_task(self, case: Case) -> _Task:
        return self._grading_task(case, Stage.BASELINE, case.submission.text, None)

    def _filtered_task(self, case: Case) -> _Task:
        basis = case.judgements[Stage.FILTER]
        cleaned = basis.cleaned_answer or ""
        return self._grading_task(case, Stage.FILTERED, cleaned, basis.judgement_id)

    def _grading_task(self, case: Case, stage: Stage, text: str, based_on: str | None) -> _Task:
        engine = self._models.grader.engine
        return _Task(
            case=case,
            stage=stage,
            text=text,
            prompt=engine.render(self._models.grader.prompt(case.question, text)),
            fingerprint=engine.fingerprint(Role.GRADE),
            decoding=self._models.grader.decoding,
            based_on=based_on,
        )

    def _judge(
        self, tasks: Sequence[_Task], compute: Callable[[Sequence[_Task]], list[Judgement]]
    ) -> None:
        """Give every task's case its Judgement: recorded, shared, or computed."""
        found: dict[str, Judgement] = {}
        missing: dict[bytes, _Task] = {}
        for task in tasks:
            if judgement := self._records.find(task.judgement_id):
                found[judgement.judgement_id] = judgement
                self._known.setdefault(task.result_key, judgement)
        for task in tasks:
            if task.result_key in self._known:
                continue
            if judgement := self._records.find_result(task.result_key):
                self._known[task.result_key] = judgement
            else:
                missing.setdefault(task.result_key, task)
        metrics.RESULTS.labels("found").inc(len(found))
        metrics.RESULTS.labels("computed").inc(len(missing))
        shared = sum(task.judgement_id not in found for task in tasks) - len(missing)
        metrics.RESULTS.labels("shared").inc(shared)
        # The model reads what the answers to one question share once, if they come together.
        ordered = sorted(missing.values(), key=lambda task: task.question)
        refused: dict[bytes, InputError] = {}
        for task, result in zip(ordered, _each(compute, ordered), strict=True):
            if isinstance(result, InputError):
                refused[task.result_key] = result
            else:
                self._known[task.result_key] = result
        for task in tasks:
            if task.result_key in refused:
                self._refuse(task.case, refused[task.result_key])
            else:
                judgement = found.get(task.judgement_id) or self._share(task)
                task.case.judgements[task.stage] = judgement

    def _refuse(self, case: Case, error: InputError) -> None:
        if case in self.cases:
            self.cases.remove(case)
            self.refusals.append(Refusal(case.question, case.answer, error))

    def _share(self, task: _Task) -> Judgement:
        """The known result for the task's prompt as the task's own Judgement."""
        own = task.case.judgements.get(Stage.BASELINE)
        source = own if own and own.prompt == task.prompt else self._known[task.result_key]
        if source.judgement_id == task.judgement_id:
            return source
        submission = task.case.submission
        same_student = (source.exam_id, source.student_id) == (
            submission.exam_id,
            submission.student_id,
        )
        return replace(
            source,
            judgement_id=task.judgement_id,
            stage=task.stage,
            exam_id=submission.exam_id,
            question_id=submission.question_id,
            answer_id=submission.answer_id,
            student_id=submission.student_id,
            submission_id=submission.submission_id,
            attack_type=submission.attack_type,
            created_at=datetime.now(UTC),
            latency_ms=0.0,
            reused_from=source.judgement_id if same_student else REUSED_FROM_CACHE,
            based_on=task.based_on,
        )

    def _clean(self, tasks: Sequence[_Task]) -> list[Judgement]:
        results = self._models.filter.clean([task.item for task in tasks])
        metrics.REMOVED_SPANS.inc(sum(len(result.removed) for result in results))
        metrics.ATTACKED_ANSWERS.inc(sum(bool(result.removed) for result in results))
        return [
            _judgement(
                task,
                raw_output=result.raw_output,
                finish_reason=result.finish_reason,
                latency_ms=result.latency_ms,
                cleaned_answer=result.cleaned,
                removed_spans=result.removed,
                filter_stable=result.stable,
            )
            for task, result in zip(tasks, results, strict=True)
        ]

    def _grade(self, tasks: Sequence[_Task]) -> list[Judgement]:
        grades = self._models.grader.grade([task.item for task in tasks])
        return [
            _judgement(
                task,
                raw_output=grade.raw_output,
                finish_reason=grade.finish_reason,
                latency_ms=grade.latency_ms,
                predicted_score=grade.predicted_score,
                raw_score=grade.raw_score,
                score_source=grade.score_source,
                expected_score=grade.expected_score,
                score_probabilities=grade.score_probabilities,
                justification=grade.justification,
            )
            for task, grade in zip(tasks, grades, strict=True)
        ]


def _judgement(task: _Task, **result: Any) -> Judgement:
    submission = task.case.submission
    return Judgement(
        judgement_id=task.judgement_id,
        stage=task.stage,
        exam_id=submission.exam_id,
        question_id=submission.question_id,
        answer_id=submission.answer_id,
        student_id=submission.student_id,
        submission_id=submission.submission_id,
        attack_type=submission.attack_type,
        prompt=task.prompt,
        scale=task.case.question.scale,
        model_fingerprint=task.fingerprint,
        prompt_version=PROMPT_VERSION,
        decoding=task.decoding,
        created_at=datetime.now(UTC),
        based_on=task.based_on,
        **result,
    )


def _submission(salt: bytes, question: Question, answer: Answer) -> Submission:
    return Submission(
        submission_id=submission_id(
            salt, question.exam_id, answer.answer_id, answer.attack_type, answer.text
        ),
        exam_id=question.exam_id,
        question_id=question.question_id,
        answer_id=answer.answer_id,
        student_id=answer.student_id,
        attack_type=answer.attack_type,
        text=answer.text,
        received_at=datetime.now(UTC),
    )


def _check_unicode(question: Question, answer: Answer) -> None:
    names = (question.exam_id, question.question_id, answer.answer_id, answer.student_id)
    texts = (answer.text, answer.attack_type, question.rubric)
    prompt = grading_prompt(question, answer.text, justify=False).text
    try:
        "".join([*names, *texts, prompt]).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"answer {answer.answer_id!a} or its question is not valid Unicode: {error}"
        ) from error


def _each(
    call: Callable[[Sequence[_Item]], Sequence[_Result]], items: Sequence[_Item]
) -> list[_Result | InputError]:
    """`call` on all items at once; where it refuses, on halves, until the culprit is alone."""
    if not items:
        return []
    try:
        return [*call(items)]
    except InputError as error:
        if len(items) == 1:
            return [error]
    half = len(items) // 2
    return [*_each(call, items[:half]), *_each(call, items[half:])]
