"""Every error that SteadyEval raises on purpose.

SteadyEvalError
├── InputError                 what a caller sent cannot be used
│   ├── ExamFileError          an exam file has bad lines (all of them listed)
│   ├── UnknownExamError       no such exam, question, answer, judgement or batch is registered
│   ├── ErasedError            the texts of an answer were erased while it was graded
│   ├── JobStateError          a batch job is not in a state for what was asked
│   ├── PromptTooLongError     question, rubric and answer do not fit the model's context
│   └── AnswerTooLongError     an answer is longer than the setting allows
├── SettingsError              a setting is missing or contradicts another
├── ModelError                 a model profile cannot be used
│   ├── ProfileError           the profile file itself is wrong
│   ├── MissingWeightsError    weights or adapter are not there (says what to run)
│   ├── TermsError             the terms of the weights have not been accepted (says how)
│   ├── FetchError             weights cannot be had from where they are published
│   ├── HashMismatchError      a file is not the one that was published
│   └── CanaryError            the loaded filter does not filter
├── EngineError                a model call failed
├── LedgerError                a record could not be written or read
│   ├── LedgerDamagedError     the ledger's file is not what was written (says what to do)
│   └── RecordConflictError    another result stands in the ledger under the same id
├── NotReadyError              the service is not ready to grade (says why)
├── OverloadedError            too many answers wait to be graded
├── DeadlineError              a request waited or took longer than the setting allows
├── ClientGoneError            whoever asked no longer listens
├── AccessError                a caller may not do what it asks
│   ├── UnauthorizedError      no API key came along, or one that is not valid
│   ├── ForbiddenError         the key's roles or exams do not reach that far
│   └── TooManyRequestsError   the key asks too often (says how long to wait)
├── KeyStoreError              the file of API keys cannot be read or written
├── BackupError                a backup cannot be made or put back, or is not what was written
├── ServiceError               a service that was asked over HTTP refused, or did not answer
├── JobStoreError              the file of batch jobs cannot be read or written
├── QueueFullError             too many batch jobs are unfinished
└── GraphError                 the graph could not be used
├── GraphUnreachableError
├── GraphAuthError
├── GraphDatabaseError
├── GraphVersionError
└── GraphQueryError
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class SteadyEvalError(Exception):
    """Base of all errors raised on purpose; its text says what, where and what to do."""


class InputError(SteadyEvalError):
    """What a caller sent cannot be used."""


@dataclass(frozen=True)
class LineError:
    """One fault in an exam file: 1-based line number, column (None = whole line), reason."""

    line: int
    column: str | None
    reason: str

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.column}" if self.column else "")
        return f"{where}: {self.reason}"


class ExamFileError(InputError):
    """An exam file has bad lines; `errors` lists every one, the message the first of them."""

    _SHOWN = 100

    def __init__(self, path: Path, errors: Sequence[LineError]) -> None:
        self.path = path
        self.errors = tuple(errors)
        listed = "\n".join(f"  {error}" for error in self.errors[: self._SHOWN])
        if (more := len(self.errors) - self._SHOWN) > 0:
            listed += f"\n  and {more} more"
        super().__init__(f"{path} has {len(self.errors)} fault(s); nothing was read:\n{listed}")


class UnknownExamError(InputError):
    """No such exam, question, answer, judgement or batch is registered."""


class ErasedError(InputError):
    """The texts of an answer were erased while it was graded; nothing was recorded."""

    def __init__(self, exam_id: str, answer_id: str) -> None:
        super().__init__(
            f"answer {answer_id!r} of exam {exam_id!r} was erased while it was graded, so nothing "
            "was recorded; it is graded if it is sent again"
        )


class JobStateError(InputError):
    """A batch job is not in a state for what was asked."""


class PromptTooLongError(InputError):
    """A prompt does not fit the model's context; the rubric is never cut to make it fit."""

    def __init__(self, what: str, tokens: int, limit: int) -> None:
        self.tokens = tokens
        self.limit = limit
        super().__init__(
            f"{what} needs {tokens} tokens but the model takes {limit}; "
            "shorten the answer or the rubric, or use a profile with a longer context"
        )


class AnswerTooLongError(InputError):
    """An answer is longer than the setting `max_answer_chars` allows."""

    def __init__(self, characters: int, limit: int) -> None:
        self.characters = characters
        self.limit = limit
        super().__init__(f"the answer has {characters} characters; at most {limit} are accepted")


class SettingsError(SteadyEvalError):
    """A setting is missing or contradicts another."""


class ModelError(SteadyEvalError):
    """A model profile cannot be used."""


class ProfileError(ModelError):
    """The profile file itself is wrong."""


class MissingWeightsError(ModelError):
    """Weights or an adapter are not there; the text names the command that brings them."""


class TermsError(ModelError):
    """The terms that weights come under have not been accepted; the text says how to."""


class FetchError(ModelError):
    """Weights cannot be had from where they are published; the text says why."""


class HashMismatchError(ModelError):
    """A file is not the one that was published."""


class CanaryError(ModelError):
    """The loaded filter does not filter; the text says which check failed."""


class EngineError(SteadyEvalError):
    """A model call failed."""


class LedgerError(SteadyEvalError):
    """A record could not be written or read."""


class LedgerDamagedError(LedgerError):
    """The ledger's file is not what was written; the text says what to do."""


class RecordConflictError(LedgerError):
    """Another result stands in the ledger under the same id; the first one binds."""


class NotReadyError(SteadyEvalError):
    """The service is not ready to grade; the text says why."""


class OverloadedError(SteadyEvalError):
    """As many requests are graded, or wait for it, as the setting `max_requests` allows."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} requests are graded or wait for it, and no more may wait; ask again later, "
            "or send many answers as one batch"
        )


class DeadlineError(SteadyEvalError):
    """A request waited or took longer than the setting `request_seconds` allows."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"there is no result after {seconds:g} seconds; what was not recorded by then is "
            "dropped, and the same request may be sent again"
        )


class ClientGoneError(SteadyEvalError):
    """Whoever asked no longer listens."""


class AccessError(SteadyEvalError):
    """A caller may not do what it asks."""


class UnauthorizedError(AccessError):
    """No API key came along, or one that is not known, expired or revoked."""


class ForbiddenError(AccessError):
    """The key's roles or exams do not reach that far."""


class TooManyRequestsError(AccessError):
    """A key asks too often; `retry_after` is how many whole seconds to wait."""

    def __init__(self, retry_after: int, per_minute: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"a key may ask {per_minute} times a minute; ask again in {retry_after} s")


class KeyStoreError(SteadyEvalError):
    """The file of API keys cannot be read or written."""


class BackupError(SteadyEvalError):
    """A backup cannot be made or put back, or is not what was written."""


class ServiceError(SteadyEvalError):
    """A service that was asked over HTTP refused, or did not answer."""


class JobStoreError(SteadyEvalError):
    """The file of batch jobs cannot be read or written."""


class QueueFullError(SteadyEvalError):
    """Too many batch jobs are unfinished."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"{limit} batches are unfinished, and no more may wait; ask again when one has ended"
        )


class GraphError(SteadyEvalError):
    """The graph could not be used."""


class GraphUnreachableError(GraphError):
    """No graph server answers at the address."""


class GraphAuthError(GraphError):
    """The graph server refused user or password."""


class GraphDatabaseError(GraphError):
    """The graph server has no such database."""


class GraphVersionError(GraphError):
    """The graph server is older than Neo4j 5."""


class GraphQueryError(GraphError):
    """The graph server refused a statement."""
