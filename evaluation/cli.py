"""`steadyeval evaluate`: the paper's protocol on any exam, any model profile, any pipelines."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
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
    from evaluation.graph_scores import GraphScores
    from evaluation.paper_numbers import PaperExam
    from evaluation.scores import ScoreRow
    from evaluation.variants import VariantPlan
    from service.exam import ExamItem, Question
    from service.settings import Settings

_LIBRARIES = ("steadyeval", "torch", "transformers", "peft")
_SETTINGS = ("engine", "device", "batch_size")


def evaluate(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; a killed run goes on there.")],
    exam: Annotated[list[Path] | None, typer.Argument(help="Exam files.")] = None,
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
    from_graph: Annotated[
        str | None,
        typer.Option(
            "--from-graph", help="Make the tables of this run_id again, from the graph alone."
        ),
    ] = None,
    profile: ProfileOption = None,
    graph: GraphOption = None,
) -> None:
    """Grade answers clean and attacked through several pipelines; write the paper's tables.

    OUT gets tables, figures, scores.jsonl with every score, and run.json, which says what they
    are of; no text of an answer. Ledger and graph keep every Judgement: take a STEADYEVAL_HOME
    for experiments.
    """
    if bool(exam) == bool(from_graph):
        raise InputError("give either exam files or --from-graph RUN_ID")
    # Only here, since help needs none of it.
    from evaluation.run_results import layout_of, write_results
    from evaluation.summary import summary
    from evaluation.variants import AttackSet, VariantPlan

    console = Console(stderr=True)
    settings = given_settings(profile=profile, graph=graph)
    if from_graph:
        found = _in_graph(from_graph, settings)
        names, questions = list(found.pipelines), found.questions
        peers = _peers(peer or (), questions)
        rows = found.rows
    else:
        names = _names(pipelines)
        draw = _Draw(tuple(exam or ()), split, sample, seed)
        items = draw.items(settings)
        questions = [item.question for item in items]
        peers = _peers(peer or (), questions)
        plan = VariantPlan(AttackSet(attacks), seed)
        rows = _graded(draw, items, plan, names, out, settings, console)
    layout = layout_of(names, rows, peers, seed=seed)
    with console.status("writing tables and figures"):
        tables = write_results(out, rows, questions, layout)
    Console().print(summary(tables, layout))
    console.print(f"tables and figures are in {escape(str(out))}", highlight=False)
    if missing := sum(row.score is None for row in rows):
        console.print(
            f"[yellow]{missing} of {len(rows)} grades are missing[/]; the tables count them",
            highlight=False,
        )


@dataclass(frozen=True)
class _Draw:
    """Which answers of exam files are evaluated."""

    exams: tuple[Path, ...]
    split: str
    sample: int | None
    seed: int

    def items(self, settings: Settings) -> list[ExamItem]:
        """The honest answers of the split, or as many of each question as can be."""
        from filter_training.sampling import stratified, unattacked
        from service.exam_file import read_exam

        limit = settings.max_answer_chars
        items = [
            item
            for path in self.exams
            for item in unattacked(read_exam(path, max_answer_chars=limit), self.split)
        ]
        if not items:
            raise InputError(f"no answer of the exam files is of split {self.split}")
        seen: set[tuple[str, str]] = set()
        for item in items:
            key = item.question.exam_id, item.answer.answer_id
            if key in seen:
                raise InputError(f"{key[0]}, answer {key[1]}: the exam files have it twice")
            seen.add(key)
        return items if self.sample is None else stratified(items, self.sample, Random(self.seed))


def _graded(
    draw: _Draw,
    items: Sequence[ExamItem],
    plan: VariantPlan,
    names: Sequence[str],
    out: Path,
    settings: Settings,
    console: Console,
) -> list[ScoreRow]:
    """Grade what OUT does not know yet."""
    from evaluation.pipelines import PIPELINES
    from evaluation.run import grade_variants, procedure
    from evaluation.run_journal import RunDescription, RunJournal
    from evaluation.run_results import score_rows
    from evaluation.variants import fingerprint
    from filter_training.progress import progress
    from service.engine.base import Role
    from service.engine.factory import open_engine

    with console.status(f"loading {escape(settings.profile)}"):
        engine = open_engine(settings)
    with closing(engine):
        models = {name: PIPELINES[name].models(engine) for name in names}
        description = RunDescription(
            run_id=str(uuid4()),
            started_at=datetime.now(UTC),
            command=("steadyeval", *sys.argv[1:]),
            settings={name: getattr(settings, name) for name in _SETTINGS},
            profile=Path(settings.profile).name,
            fingerprints={role.value: engine.fingerprint(role) for role in Role},
            pipelines={name: procedure(one) for name, one in models.items()},
            attacks=plan.attacks,
            split=draw.split,
            sample=draw.sample,
            seed=draw.seed,
            exams={path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in draw.exams},
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
    return score_rows(journal.entries, items)


def _in_graph(run_id: str, settings: Settings) -> GraphScores:
    from evaluation.graph_scores import read_scores
    from service.graph import open_graph

    with open_graph(settings) as store:
        return read_scores(store, run_id)


def _names(given: str) -> list[str]:
    from evaluation.pipelines import PIPELINES

    names = list(dict.fromkeys(given.split(",")))
    if unknown := [name for name in names if name not in PIPELINES]:
        raise InputError(f"no pipeline {', '.join(unknown)}; there are {', '.join(PIPELINES)}")
    return names


def _peers(given: Sequence[str], questions: Sequence[Question]) -> dict[str, PaperExam]:
    from evaluation.paper_numbers import PaperExam

    exams = {question.exam_id for question in questions}
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
