"""`steadyeval evaluate`: the paper's protocol on any exam, any model profile, any pipelines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import uuid4

import typer
from rich.console import Console
from rich.markup import escape

from service.cli.batch import shipped_ledger
from service.cli.options import GraphOption, ProfileOption, given_settings
from service.errors import InputError

if TYPE_CHECKING:
    from evaluation.draw import Draw
    from evaluation.evaluated import Evaluated
    from evaluation.paper_numbers import PaperExam
    from evaluation.pipelines import Pipeline
    from evaluation.run_journal import RunDescription
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
            help="Pipelines, with commas between, of none, sanitiser, hardened, encoded, copy, "
            "copy+sanitiser, hybrid, free; @PROFILE behind a name gives it the grader of that "
            "profile. The others are compared with the first one."
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
    question_fold: Annotated[
        int | None,
        typer.Option(help="Only the questions that this fold of a dataset with the seed left out."),
    ] = None,
    question_folds: Annotated[int, typer.Option(help="How many folds of questions.")] = 5,
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
    texts: Annotated[
        bool, typer.Option("--texts/--no-texts", help="Whether the report shows answers.")
    ] = True,
    profile: ProfileOption = None,
    filter_profile: Annotated[
        str | None, typer.Option(help="Profile that filters, where it is another one.")
    ] = None,
    grade_profile: Annotated[
        str | None, typer.Option(help="Profile that grades, where it is another one.")
    ] = None,
    graph: GraphOption = None,
) -> None:
    """Grade answers clean and attacked through several pipelines; write the paper's tables.

    OUT gets report.html, tables, figures, scores.jsonl with every score, and run.json, which says
    what they are of. OUT/home keeps every Judgement, in a ledger and, unless another graph is
    named, in a graph of its own.
    """
    if bool(exam) == bool(from_graph):
        raise InputError("give either exam files or --from-graph RUN_ID")
    # Only here, since help needs none of it.
    from evaluation.draw import Draw
    from evaluation.pipelines import pipelines_named
    from evaluation.run_results import layout_of, write_results
    from evaluation.summary import summary
    from evaluation.variants import AttackSet, VariantPlan

    console = Console(stderr=True)
    settings = given_settings(profile=profile, graph=graph)
    description = None
    if from_graph:
        found = _in_graph(from_graph, out, settings)
        peers = _peers(peer or (), found.questions)
    else:
        chosen = pipelines_named(pipelines)
        draw = Draw(tuple(exam or ()), split, sample, seed, question_fold, question_folds)
        items = draw.items(settings)
        peers = _peers(peer or (), [item.question for item in items])
        plan = VariantPlan(AttackSet(attacks), seed)
        profiles = filter_profile or settings.profile, grade_profile or settings.profile
        found, description = _graded(draw, items, plan, chosen, profiles, out, settings, console)
    layout = layout_of(found, peers, seed=seed)
    with console.status("writing tables, figures and the report"):
        tables = write_results(out, found, layout, description=description, texts=texts)
    Console().print(summary(tables, layout))
    console.print(f"{escape(str(out / 'report.html'))} has all tables and figures", highlight=False)
    if missing := sum(row.score is None for row in found.rows):
        console.print(
            f"[yellow]{missing} of {len(found.rows)} grades are missing[/]; the tables count them",
            highlight=False,
        )


def _graded(
    draw: Draw,
    items: Sequence[ExamItem],
    plan: VariantPlan,
    pipelines: Mapping[str, Pipeline],
    profiles: tuple[str, str],
    out: Path,
    settings: Settings,
    console: Console,
) -> tuple[Evaluated, RunDescription]:
    """Grade what OUT does not know yet; the profiles are those of filter and grader."""
    from evaluation.engines import check_filters, open_engines
    from evaluation.evaluated import of_run
    from evaluation.run import grade_variants, procedure
    from evaluation.run_journal import RunDescription, RunJournal
    from evaluation.variants import fingerprint
    from filter_training.progress import progress

    filters, grades = profiles
    with ExitStack() as stack:
        with console.status(f"loading {escape(' and '.join(dict.fromkeys(profiles)))}"):
            engines = stack.enter_context(
                open_engines(settings, pipelines.values(), filters=filters, grades=grades)
            )
        models = {name: engines.models(pipeline) for name, pipeline in pipelines.items()}
        with console.status("checking the filter"):
            check_filters(models.values())
        description = RunDescription(
            run_id=str(uuid4()),
            started_at=datetime.now(UTC),
            command=("steadyeval", *_command(draw.exams)),
            settings={name: getattr(settings, name) for name in _SETTINGS},
            profiles=engines.profiles,
            fingerprints=engines.fingerprints,
            pipelines={name: procedure(one) for name, one in models.items()},
            attacks=plan.attacks,
            split=draw.split,
            sample=draw.sample,
            seed=draw.seed,
            exams=draw.hashes(),
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
            shipped_ledger(_own_home(settings, out), console) as ledger,
            progress(console, total, doing="grading") as report,
        ):
            grade_variants(models, items, plan, ledger=ledger, journal=journal, report=report)
    return of_run(list(pipelines), journal.entries, items, plan), journal.description


def _command(exams: Sequence[Path]) -> Iterator[str]:
    """The words behind `steadyeval`; where the exam files lie is nobody's business."""
    for word in sys.argv[1:]:
        yield Path(word).name if Path(word) in exams else word


def _own_home(settings: Settings, out: Path) -> Settings:
    """The settings, with ledger and embedded graph in OUT/home; git leaves the texts there alone.

    Raises:
        InputError: the folder cannot be used.
    """
    home = out / "home"
    try:
        home.mkdir(parents=True, exist_ok=True)
        (home / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot use {home}: {error.strerror}") from error
    return settings.model_copy(update={"home": home})


def _in_graph(run_id: str, out: Path, settings: Settings) -> Evaluated:
    from evaluation.graph_scores import read_scores
    from service.graph import open_graph

    own = settings.model_copy(update={"home": out / "home"})
    if settings.graph == "embedded" and not own.graph_dir.is_dir():
        raise InputError(f"{out} has no graph of its own; name the graph with --graph")
    with open_graph(own) as store:
        return read_scores(store, run_id)


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
