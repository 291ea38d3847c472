"""How much of an attacked answer the filter gives back, and whether the grader says a score.

The acceptance check of a profile's adapters: on a sample of answers, stratified by question,
how many attacked answers come back exactly as they were before the attack, how many clean
answers come back untouched, and how many scores can be read off the grader's own words.

    python -m evaluation.restoration EXAM… --split test --sample 200
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from filter_training.attacks import CLEAN, VARIANTS, attacked
from filter_training.sampling import stratified, unattacked
from service.exam import ExamItem
from service.filter import AnswerFilter
from service.grader import Grader
from service.judgement import ScoreSource

_AT_ONCE = 8


@dataclass(frozen=True)
class Share:
    """`hits` of `total`."""

    hits: int
    total: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.total} ({100 * self.hits / max(self.total, 1):.1f} %)"


@dataclass(frozen=True)
class Restoration:
    """Result of the check.

    Attributes:
        restored: attack_type → cleaned answers equal to the answer before the attack; for
            `clean`, answers that came back untouched.
        parsable: clean answers for which the grader wrote a valid `Answer:` line.
        mean_passes: forward passes of the filter per text.
        failures: (answer_id, attack_type) of each text that did not come back.
    """

    restored: dict[str, Share]
    parsable: Share
    mean_passes: float
    failures: tuple[tuple[str, str], ...]

    @property
    def attacked(self) -> Share:
        """All attacked texts together."""
        shares = [share for name, share in self.restored.items() if name != CLEAN]
        return Share(sum(share.hits for share in shares), sum(share.total for share in shares))


def measure(
    answer_filter: AnswerFilter,
    grader: Grader,
    items: Sequence[ExamItem],
    *,
    report: Callable[[int, int], None],
) -> Restoration:
    """Run the check over `items`; `report` gets texts done and texts in all."""
    texts = [(item, variant) for item in items for variant in VARIANTS]
    hits: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    failures: list[tuple[str, str]] = []
    passes = 0
    for start in range(0, len(texts), _AT_ONCE):
        batch = texts[start : start + _AT_ONCE]
        raw = [(item.question, attacked(item.answer.text, variant)) for item, variant in batch]
        for (item, variant), filtered in zip(batch, answer_filter.clean(raw), strict=True):
            totals[variant] += 1
            passes += filtered.forward_passes
            if filtered.cleaned == item.answer.text:
                hits[variant] += 1
            else:
                failures.append((item.answer.answer_id, variant))
        report(start + len(batch), len(texts) + len(items))
    parsable = 0
    for start in range(0, len(items), _AT_ONCE):
        answers = [(item.question, item.answer.text) for item in items[start : start + _AT_ONCE]]
        parsable += sum(grade.score_source is ScoreSource.LINE for grade in grader.grade(answers))
        report(len(texts) + start + len(answers), len(texts) + len(items))
    return Restoration(
        restored={variant: Share(hits[variant], totals[variant]) for variant in VARIANTS},
        parsable=Share(parsable, len(items)),
        mean_passes=passes / len(texts) if texts else 0.0,
        failures=tuple(failures),
    )


def main(
    exam: Annotated[list[Path], typer.Argument(help="Exam files.")],
    split: Annotated[str, typer.Option(help="Split to use of files that have one.")] = "test",
    sample: Annotated[int, typer.Option(min=1, help="Answers to draw.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 1,
    out: Annotated[Path | None, typer.Option(help="JSON file for the result.")] = None,
) -> None:
    """Check how well a profile's filter restores attacked answers."""
    from rich.console import Console
    from rich.progress import Progress

    from service.engine.factory import open_engine
    from service.exam_file import read_exam
    from service.settings import load_settings

    settings = load_settings()
    items = [
        item
        for path in exam
        for item in read_exam(path, max_answer_chars=settings.max_answer_chars)
    ]
    drawn = stratified(unattacked(items, split), sample, Random(seed))
    engine = open_engine(settings)
    try:
        with Progress(console=Console(stderr=True)) as bar:
            task = bar.add_task("texts")
            result = measure(
                AnswerFilter(engine, decoding=settings.decoding),
                Grader(engine),
                drawn,
                report=lambda done, total: bar.update(task, completed=done, total=total),
            )
    finally:
        engine.close()
    console = Console()
    for variant, share in result.restored.items():
        console.print(f"{variant:16} {share}")
    console.print(f"attacked, all    {result.attacked}")
    console.print(f"score line       {result.parsable}")
    console.print(f"forward passes   {result.mean_passes:.2f} a text")
    if out:
        out.write_text(json.dumps(asdict(result), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
