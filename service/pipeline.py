"""The guarded pipeline: baseline grade, filter, grade of what the filter left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import uuid4

from service.canary import check_canary
from service.engine.base import Engine
from service.errors import InputError, RecordConflictError
from service.exam import Answer, Question
from service.filter import AnswerFilter, FilteredText
from service.grader import Grader
from service.judgement import FinishReason, Judgement, RemovedSpan, ScoreSource, Stage
from service.ledger import Ledger
from service.observability import tracing
from service.recent import RecentJudgements
from service.records import Run, RunKind, Submission
from service.stages import Batch, Case, Models, Records

OnRefused = Callable[[Question, Answer, InputError], None]


@dataclass(frozen=True)
class GradedAnswer:
    """An answer with its three Judgements; the final score is always the filtered one."""

    submission: Submission
    question: Question
    baseline: Judgement
    filter: Judgement
    filtered: Judgement

    @property
    def review_reasons(self) -> tuple[str, ...]:
        """Why a person must look: empty where nobody must.

        `no_score`, `forced_score`: the filtered grade has no valid score, or the engine was
        made to give one. `filter_unstable`: the filter was still removing text when it
        stopped. `filter_truncated`: it hit its limit on new tokens. `removed_everything`:
        it left nothing of the answer.
        """
        reasons = {
            "no_score": self.filtered.score_source is ScoreSource.NONE,
            "forced_score": self.filtered.score_source is ScoreSource.FORCED,
            "filter_unstable": self.filter.filter_stable is False,
            "filter_truncated": self.filter.finish_reason is FinishReason.LENGTH,
            "removed_everything": bool(self.submission.text.strip())
            and not self.cleaned_answer.strip(),
        }
        return tuple(reason for reason, holds in reasons.items() if holds)

    @property
    def status(self) -> Literal["graded", "needs_review"]:
        """`needs_review` where there is a reason for it."""
        return "needs_review" if self.review_reasons else "graded"

    @property
    def final_score(self) -> float | None:
        """The filtered stage's score."""
        return self.filtered.predicted_score

    @property
    def max_points(self) -> float:
        """The best score of the question's scale."""
        return self.question.scale.max_points

    @property
    def cleaned_answer(self) -> str:
        """What the filter left."""
        return self.filter.cleaned_answer or ""

    @property
    def removed_spans(self) -> tuple[RemovedSpan, ...]:
        """What the filter removed."""
        return self.filter.removed_spans

    @property
    def provisional(self) -> bool:
        """True until a course has calibrated its grades."""
        return True


class GradingPipeline:
    """Grades answers and records how. Safe to use from many threads."""

    def __init__(
        self,
        engine: Engine,
        *,
        ledger: Ledger | None = None,
        decoding: Literal["copy", "free"] = "copy",
    ) -> None:
        """Grade with `engine`.

        Args:
            engine: the model.
            ledger: where Judgements are recorded and found again; without one only the latest
                results are remembered, and ids are not salted.
            decoding: how the filter decodes; an engine that cannot copy always decodes freely.
        """
        self._models = Models(engine, Grader(engine), AnswerFilter(engine, decoding=decoding))
        self._records: Records = RecentJudgements() if ledger is None else ledger

    @classmethod
    def from_profile(cls, name: str = "smollm2-135m") -> GradingPipeline:
        """A pipeline without a ledger on the model of a profile.

        Raises:
            ModelError: the profile cannot be used; the text says what to run.
        """
        from service.engine.factory import open_engine
        from service.settings import load_settings

        settings = load_settings(profile=name)
        return cls(open_engine(settings), decoding=settings.decoding)

    def close(self) -> None:
        """Release the model."""
        self._models.engine.close()

    def check(self) -> None:
        """Prove that the loaded filter filters.

        Raises:
            CanaryError: it does not.
        """
        check_canary(self._models.filter)

    def clean_many(self, items: Sequence[tuple[Question, str]]) -> list[FilteredText]:
        """What the filter would remove from texts; nothing is graded or recorded."""
        return self._models.filter.clean(items)

    def new_run(self, kind: RunKind) -> Run:
        """A run of this pipeline that begins now, under an id of its own."""
        pipeline = f"guarded-{self._models.filter.decoding}"
        return Run(str(uuid4()), kind, pipeline, datetime.now(UTC))

    def grade(self, question: Question, answer: Answer) -> GradedAnswer:
        """Grade one answer; it is recorded when this returns.

        Raises:
            InputError: the answer cannot be graded, for example as its prompt is too long, or as
                it was erased meanwhile.
            EngineError: the model call failed.
            LedgerError: the Judgements cannot be recorded.
        """
        return self.grade_many([(question, answer)])[0]

    def grade_many(
        self,
        items: Sequence[tuple[Question, Answer]],
        *,
        run: Run | None = None,
        on_refused: OnRefused | None = None,
    ) -> list[GradedAnswer]:
        """Grade answers in one batch; all are recorded, together, when this returns.

        For a long exam call it portion by portion with the same `run`: what was recorded is
        found again after a crash.

        Args:
            items: questions and answers.
            run: the run that includes the Judgements; default: a new one.
            on_refused: told of each answer that cannot be graded; the others are graded and
                returned. Without it, the first such answer raises and nothing is recorded.

        Returns:
            The graded answers, in the order of the items.

        Raises:
            InputError: an answer cannot be graded and there is no `on_refused`.
            ErasedError: an answer was erased meanwhile; nothing is recorded.
            EngineError: a model call failed; nothing is recorded.
            LedgerError: the Judgements cannot be recorded.
        """
        run = run or self.new_run(RunKind.REQUEST if len(items) == 1 else RunKind.BATCH)
        try:
            return self._grade(items, run, on_refused)
        except RecordConflictError:
            # Somebody else judged one of the answers meanwhile. Theirs is found this time.
            return self._grade(items, run, on_refused)

    def _grade(
        self,
        items: Sequence[tuple[Question, Answer]],
        run: Run,
        on_refused: OnRefused | None,
    ) -> list[GradedAnswer]:
        batch = Batch(self._models, self._records, items)
        if on_refused is None and batch.refusals:
            raise batch.refusals[0].error
        if batch.cases:
            with tracing.span("ledger commit"):
                self._records.record(
                    run,
                    [case.question for case in batch.cases],
                    [case.submission for case in batch.cases],
                    [judgement for case in batch.cases for judgement in case.judgements.values()],
                    {case.key: case.salt for case in batch.cases},
                )
        if on_refused is not None:
            for refusal in batch.refusals:
                on_refused(refusal.question, refusal.answer, refusal.error)
        return [self._graded(case) for case in batch.cases]

    def _graded(self, case: Case) -> GradedAnswer:
        """The answer with the Judgements that bind: what stands in the records, if anything."""
        recorded = {
            stage: self._records.find(judgement.judgement_id) or judgement
            for stage, judgement in case.judgements.items()
        }
        return GradedAnswer(
            submission=case.submission,
            question=case.question,
            baseline=recorded[Stage.BASELINE],
            filter=recorded[Stage.FILTER],
            filtered=recorded[Stage.FILTERED],
        )
