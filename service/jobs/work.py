"""One turn of a job: a few answers graded, and what became of each."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from service.errors import (
    EngineError,
    ErasedError,
    InputError,
    LedgerError,
    PromptTooLongError,
    RecordConflictError,
)
from service.exam import Answer, Question
from service.jobs.job import Failure, Item, Job, Outcome, Reason
from service.jobs.store import JobStore
from service.ledger import Ledger
from service.pipeline import GradingPipeline
from service.records import Run, RunKind

_log = logging.getLogger(__name__)

_PORTION = 16
"""Answers of one turn: enough to fill a model call, few enough to lose in a crash."""
_MOST_TRIES = 5
_NEW_WEIGHT = 0.3
"""Of the latest turn in a job's rate."""


class JobWork:
    """Grades jobs portion by portion. For one thread.

    A portion that was graded, but not noted as such before a crash, is graded again; the ledger
    then finds its Judgements, so nothing is recorded twice.
    """

    def __init__(
        self,
        store: JobStore,
        ledger: Ledger,
        pipeline: Callable[[], GradingPipeline],
        stopping: Callable[[], bool],
    ) -> None:
        """Work for the jobs of `store`.

        Args:
            store: the jobs.
            ledger: where the pipeline records, and texts of recorded answers stand.
            pipeline: gives the pipeline, or raises what is in its way.
            stopping: true once failures mean nothing, as the engine is being closed.
        """
        self._store = store
        self._ledger = ledger
        self._pipeline = pipeline
        self._stopping = stopping
        self._settled_at: dict[str, float] = {}

    def advance(self, job_id: str) -> Job:
        """Grade the next answers of a job.

        Raises:
            SteadyEvalError: no answer can be graded at the moment; they wait, and the job's
                `problem` says for what.
        """
        began = time.monotonic()
        try:
            pipeline = self._pipeline()
        except Exception as error:
            self._store.say_problem(job_id, str(error))
            raise
        job = self._store.job(job_id)
        items = self._store.take(job_id, _PORTION)
        run = replace(pipeline.new_run(RunKind.BATCH), run_id=job.job_id, started_at=job.created_at)
        try:
            outcomes = self._outcomes(pipeline, run, items)
        except ErasedError:
            # Nothing of the portion is recorded; what still waits of it comes again.
            self._store.give_back(job_id, items, None)
            return self._store.job(job_id)
        except BaseException as error:
            self._store.give_back(job_id, items, None if self._stopping() else str(error))
            raise
        job = self._store.settle(job_id, outcomes, self._rate(job, len(items), began))
        if job.state.ended:
            del self._settled_at[job_id]
        return job

    def _rate(self, job: Job, settled: int, began: float) -> float:
        """The job's answers a second, of which the latest say most."""
        now = time.monotonic()
        latest = settled / max(now - self._settled_at.get(job.job_id, began), 1e-3)
        self._settled_at[job.job_id] = now
        return latest if job.rate is None else job.rate + _NEW_WEIGHT * (latest - job.rate)

    def _outcomes(
        self, pipeline: GradingPipeline, run: Run, items: Sequence[Item]
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        gradeable: list[tuple[Item, Answer]] = []
        for item in items:
            text = item.text
            if item.submission_id is not None:
                submission = self._ledger.submission(item.submission_id)
                text = None if submission.erased else submission.text
            if item.tries >= _MOST_TRIES:
                detail = f"the service ended {item.tries} times while it graded this answer"
                outcomes.append(_failed(item, Reason.CRASH, detail))
            elif text is None:
                outcomes.append(_failed(item, Reason.ERASED, "the text was erased"))
            else:
                answer = Answer(item.answer_id, item.student_id, text, item.attack_type)
                gradeable.append((item, answer))
        return outcomes + self._grade(pipeline, run, gradeable)

    def _grade(
        self, pipeline: GradingPipeline, run: Run, items: Sequence[tuple[Item, Answer]]
    ) -> list[Outcome]:
        """What became of each; where a call fails, the answers are tried one by one."""
        refused: dict[int, InputError] = {}

        def refuse(_: Question, answer: Answer, error: InputError) -> None:
            refused[id(answer)] = error

        try:
            graded = pipeline.grade_many(
                [(item.question, answer) for item, answer in items], run=run, on_refused=refuse
            )
        except ErasedError:
            raise
        except Exception as error:
            if self._stopping():
                raise
            if len(items) > 1:
                return [outcome for item in items for outcome in self._grade(pipeline, run, [item])]
            return [self._blame(pipeline, items[0][0], error)]
        results = iter(graded)
        outcomes = []
        for item, answer in items:
            if (refusal := refused.get(id(answer))) is not None:
                outcomes.append(_failed(item, _reason(refusal), str(refusal)))
            else:
                result = next(results)
                outcomes.append(
                    Outcome(
                        item.position, result.baseline.judgement_id, result.filtered.judgement_id
                    )
                )
        return outcomes

    def _blame(self, pipeline: GradingPipeline, item: Item, error: Exception) -> Outcome:
        """A failure of this answer; raises where it is none of the answer's."""
        match error:
            case RecordConflictError():
                return _failed(item, Reason.CONFLICT, str(error))
            case LedgerError():
                raise error
            case InputError():
                return _failed(item, _reason(error), str(error))
            case EngineError():
                # A model that still answers failed on this answer alone.
                pipeline.check()
                return _failed(item, Reason.ENGINE, str(error))
            case _:
                _log.error("answer %d of a batch failed", item.position, exc_info=error)
                return _failed(item, Reason.INTERNAL, "the service's log says more")


def _reason(error: InputError) -> Reason:
    return Reason.PROMPT_TOO_LONG if isinstance(error, PromptTooLongError) else Reason.INVALID


def _failed(item: Item, reason: Reason, detail: str) -> Outcome:
    return Outcome(item.position, failure=Failure(reason, detail))
