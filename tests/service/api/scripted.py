"""An engine whose answers a test knows beforehand: it stands in for the model, nothing else."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from service.engine.base import (
    CopyCompletion,
    CopyRequest,
    Cut,
    CutsBy,
    Engine,
    FreeCompletion,
    GradeCompletion,
    GradeRequest,
    GradesBy,
    Role,
)
from service.judgement import FinishReason
from service.prompts import Prompt

ATTACK = re.compile(r"\s*(\[STUDENT ATTACK\]|Ignore (all )?previous).*", re.DOTALL | re.IGNORECASE)
"""What the scripted filter cuts: from the marker to the end."""


class ScriptedEngine:
    """Grades 4 points, or the maximum where the answer asks for it; cuts that request."""

    cuts_by: CutsBy | None = "copy"
    grades_by: GradesBy = "write"
    justifies = True
    max_grade_tokens = 256

    def __init__(self) -> None:
        self.graded = 0
        self.failure: Exception | None = None
        self.filters = True
        self.closed = False
        self._lock = threading.Lock()

    def fingerprint(self, role: Role) -> str:
        return f"scripted-{role}"

    def render(self, prompt: Prompt) -> str:
        return prompt.text

    def grade(self, requests: Sequence[GradeRequest]) -> list[GradeCompletion]:
        if self.failure is not None:
            raise self.failure
        with self._lock:
            self.graded += len(requests)
        return [self._grade(request) for request in requests]

    def _grade(self, request: GradeRequest) -> GradeCompletion:
        attacked = ATTACK.search(request.prompt.tail) is not None
        score = request.choices[-1] if attacked else request.choices[min(3, len(request.choices))]
        odds = {choice: float(choice == score) for choice in request.choices}
        return GradeCompletion(
            f"It names the point.\nAnswer: {score}\n", FinishReason.STOP, odds, None, 1.0
        )

    def copy(self, requests: Sequence[CopyRequest]) -> list[CopyCompletion]:
        return [self._copy(request.raw) for request in requests]

    def _copy(self, raw: str) -> CopyCompletion:
        found = ATTACK.search(raw) if self.filters else None
        cuts = (Cut(found.start(), found.end(), 0.9),) if found else ()
        return CopyCompletion(cuts, 1, 1.0)

    def rewrite(self, prompts: Sequence[Prompt], *, role: Role) -> list[FreeCompletion]:
        return [FreeCompletion(f"as {role} I say", FinishReason.STOP, 1.0) for _ in prompts]

    def filter_is_base(self, prompt: Prompt) -> bool:  # noqa: ARG002
        return False

    def close(self) -> None:
        self.closed = True


def borrowing(engine: Engine, *calls: str) -> ScriptedEngine:
    """A scripted engine that answers `calls` with `engine`, and leaves that open at its end."""
    scripted = ScriptedEngine()
    for call in calls:
        setattr(scripted, call, getattr(engine, call))
    return scripted
