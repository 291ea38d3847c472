"""A tiny random model in a profile of its own, whose filter knows the paper's attacks by heart.

What a random model reads takes its time, but what it says is noise. So the engine here asks the
model and then says what a right filter would have said: the service accepts it, and an answer takes
as many rounds as it does with a trained one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from filter_training.attacks import PAPER_ATTACKS
from service.engine.base import CopyCompletion, CopyRequest, Cut
from service.engine.transformers_engine import TransformersEngine

_PROFILE = """\
dtype_cpu = "float32"
dtype_gpu = "float32"
filter_decoding = "mark"
grade_decoding = "mark"
justification = "none"
provisional = true
max_grade_tokens = 16

[base]
folder = "base"

[adapters]
filter = "filter"
grade = "grader"
"""


def write_tiny_profile(folder: Path) -> None:
    """Put a profile with base, filter and grader into `folder`."""
    import transformers

    from tests.tiny_model import write_adapter, write_base

    logging: Any = transformers.utils.logging
    logging.disable_progress_bar()
    write_base(folder / "base")
    with warnings.catch_warnings():
        # PEFT asks transformers for a property under its old name.
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing")
        write_adapter(folder / "filter", folder / "base", seed=1)
        write_adapter(folder / "grader", folder / "base", seed=2)
    (folder / "profile.toml").write_text(_PROFILE, encoding="utf-8")


class KnowingEngine(TransformersEngine):
    """Asks its model, and cuts the paper's attacks whatever that says."""

    def copy(self, requests: Sequence[CopyRequest]) -> list[CopyCompletion]:
        """The paper's attacks as cuts, once the model has been asked."""
        return [
            replace(completion, cuts=tuple(_attacks(request.raw)))
            for request, completion in zip(requests, super().copy(requests), strict=True)
        ]


def _attacks(text: str) -> Iterator[Cut]:
    for segment in PAPER_ATTACKS.values():
        if (start := text.find(segment)) >= 0:
            yield Cut(start, start + len(segment), 1.0)
