"""`steadyeval evaluate`: the paper's protocol on any exam, any model profile, any pipelines."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import uuid4

import typer
from rich.console import Console
from rich.markup import escape

from service.cli.batch import shipped_ledger
from service.cli.options import GraphOption, ProfileOption, given_settings
from service.errors import InputError

if TYPE_CHECKING:
    from evaluation.paper_numbers import PaperExam
    from service.engine.base import Engine
    from service.exam import ExamItem
    from service.settings import Settings
    from service.stages import Models

_LIBRARIES = ("steadyeval", "torch", "transformers", "peft")
_SETTINGS = ("engine", "device", "batch_size")


def evaluate(
    exam: Annotated[list[Path], typer.Argument(help="Exam files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; a killed run goes on there.")],
    pipelines: Annotated[
        str,
        typer.Option(
            help="Pipelines, with commas between, of none, sanitiser, hardened, copy, "
            "copy+sanitiser, hybrid, free; the others are compared with the first one."
        ),
    ] = "none,copy",
    attacks: Annotated[
        Literal["paper", "all"],
        typer.Option(help="The paper's four, or all families and variants that mean the same."),
    ] = "paper",
    split: Annotated[str, typer.Option(help="Split to use of files that have one.")] = "test",
    sample: Annotated[
        int | None, typer.Option(min=1, help="Answers to draw, evenly by question.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all draws and texts.")] = 1,
    peer: Annotated[
        list[str] | None,
        typer.Option(help="EXAM=ML_gold or EXAM=RC_gold: whose figures in the paper stand beside."),
    ] = None,
    profile: ProfileOption = None,
    graph: GraphOption = None,
) -> None:
    """Grade answers clean and attacked through several pipelines; write the paper's tables.

    OUT gets tables, figures, scores.jsonl with every score, and run.json, which says what they
    are of; no text of an answer. Ledger and graph keep every Judgement: take a STEADYEVAL_HOME
    for experiments.
    """
    # Only here, since help needs none of it.
    from evaluation.run import grade_variants, procedure
    from evaluation.run_journal import RunDescription, RunJournal
    from evaluation.run_results import layout_of, score_rows, write_results
    from evaluation.variants import AttackSet, VariantPlan, fingerprint
    from filter_training.progress import progress
    from service.engine.base import Role
    from service.engine.factory import open_engine

    console = Console(stderr=True)
    names = _names(pipelines)
    settings = given_settings(profile=profile, graph=graph)
    plan = VariantPlan(AttackSet(attacks), seed)
    items = _drawn(exam, split, sample, seed, settings)
    peers = _peers(peer or (), items)
    with console.status(f"loading {escape(settings.profile)}"):
        engine = open_engine(settings)
    with closing(engine):
        models = _models(names, engine)
        description = RunDescription(
            run_id=str(uuid4()),
            started_at=datetime.now(UTC),
            command=tuple(sys.argv),
            settings={name: getattr(settings, name) for name in _SETTINGS},
            profile=Path(settings.profile).name,
            fingerprints={role.value: engine.fingerprint(role) for role in Role},
            pipelines={name: procedure(one) for name, one in models.items()},
            attacks=plan.attacks,
            split=split,
            sample=sample,
            seed=seed,
            exams=_hashes(exam),
            texts_sha256=fingerprint(plan, items),
            versions={library: version(library) for library in _LIBRARIES},
        )
        journal = RunJournal(out, description)
        total = len(items) * len(plan.names) * len(models)
        console.print(
            f"{total} grades: {len(items)} answers, {len(plan.names)} variants, "
            f"{len(models)} pipelines; run {journal.description.run_id}",
            highlight=False,
        )
        with (
            shipped_ledger(settings, console) as ledger,
            progress(console, total, doing="grading") as report,
        ):
            grade_variants(models, items, plan, ledger=ledger, journal=journal, report=report)
    layout = layout_of(names, plan, peers)
    with console.status("writing tables and figures"):
        write_results(
            out, score_rows(journal.lines, items), [item.question for item in items], layout
        )
    console.print(f"tables, figures and scores are in {escape(str(out))}", highlight=False)
    if missing := sum(line.score is None for line in journal.lines):
        console.print(f"[yellow]{missing} of {total} grades are missing[/]; the tables count them")


def _names(given: str) -> list[str]:
    from evaluation.pipelines import PIPELINES

    names = list(dict.fromkeys(given.split(",")))
    if unknown := [name for name in names if name not in PIPELINES]:
        raise InputError(f"no pipeline {', '.join(unknown)}; there are {', '.join(PIPELINES)}")
    return names


def _models(names: Sequence[str], engine: Engine) -> dict[str, Models]:
    from evaluation.pipelines import PIPELINES

    return {name: PIPELINES[name].models(engine) for name in names}


def _drawn(
    exams: Sequence[Path], split: str, sample: int | None, seed: int, settings: Settings
) -> list[ExamItem]:
    """The honest answers of the split, or as many of each question as can be."""
    from filter_training.sampling import stratified, unattacked
    from service.exam_file import read_exam

    items = [
        item
        for path in exams
        for item in unattacked(read_exam(path, max_answer_chars=settings.max_answer_chars), split)
    ]
    if not items:
        raise InputError(f"no answer of the exam files is of split {split}")
    seen: set[tuple[str, str]] = set()
    for item in items:
        key = item.question.exam_id, item.answer.answer_id
        if key in seen:
            raise InputError(f"{key[0]}, answer {key[1]}: the exam files have it twice")
        seen.add(key)
    return items if sample is None else stratified(items, sample, Random(seed))


def _hashes(exams: Sequence[Path]) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in exams}


def _peers(given: Sequence[str], items: Sequence[ExamItem]) -> Mapping[str, PaperExam]:
    from evaluation.paper_numbers import PaperExam

    exams = {item.question.exam_id for item in items}
    peers = {}
    for text in given:
        exam, _, name = text.rpartition("=")
        if exam not in exams:
            raise InputError(
                f"--peer {text}: no exam {exam!r}; there are {', '.join(sorted(exams))}"
            )
        if name not in (PaperExam.ML_GOLD, PaperExam.RC_GOLD):
            raise InputError(f"--peer {text}: the paper's exams are ML_gold and RC_gold")
        peers[exam] = PaperExam(name)
    return peers
