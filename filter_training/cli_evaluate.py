"""`steadyeval train evaluate`: how well a profile's filter gives answers back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from importlib.metadata import version
from itertools import islice, zip_longest
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from filter_training.progress import progress
from service.cli.options import ProfileOption, given_settings
from service.errors import InputError
from service.exam import ExamItem
from service.settings import Settings

_LIBRARIES = ("steadyeval", "torch", "transformers", "peft")
_SETTINGS = ("engine", "device", "decoding", "batch_size")


def evaluate(
    exam: Annotated[list[Path], typer.Argument(help="Exam files.")],
    split: Annotated[str, typer.Option(help="Split to use of files that have one.")] = "test",
    sample: Annotated[
        int, typer.Option(min=1, help="Answers to draw, evenly by course and question.")
    ] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the draw and of the texts.")] = 1,
    rows: Annotated[
        str | None, typer.Option(help="Sets to measure, with commas between; default: all.")
    ] = None,
    families: Annotated[
        str | None, typer.Option(help="Families of the row `families`, with commas between.")
    ] = None,
    family_fold: Annotated[
        int | None, typer.Option(help="The families that this fold of a dataset left out, 0 to 3.")
    ] = None,
    question_fold: Annotated[
        int | None,
        typer.Option(help="Only the questions that this fold of a dataset with the seed left out."),
    ] = None,
    question_folds: Annotated[int, typer.Option(help="How many folds of questions.")] = 5,
    red_team: Annotated[
        list[Path] | None,
        typer.Option(help="Red-team file for the row `red_team`; may be given again."),
    ] = None,
    profile: ProfileOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run folder; a killed run goes on there.")
    ] = None,
) -> None:
    """Measure the filter of a profile on attacked and on honest answers.

    Rows: clean, benign (variants that mean the same), hard_negative (honest texts that look like
    attacks), paper (its four attacks), held_out (other wordings of them), families (all other
    attacks), red_team (what is in the red-team files). OUT gets restoration.json with all numbers,
    results.jsonl, and worst.md with the worst cases, which holds texts of answers.
    """
    # Only here, since help needs none of it.
    from filter_training.attacks import FAMILIES
    from filter_training.folds import family_fold as families_of
    from filter_training.red_team import read_red_team
    from filter_training.restoration import filter_cases
    from filter_training.restoration_cases import OTHER_FAMILIES, Plan, Row
    from filter_training.restoration_journal import RestorationJournal, Subject
    from filter_training.restoration_report import Report, report_sets
    from filter_training.restoration_table import tables
    from filter_training.restoration_worst import worst_page
    from service.engine.base import Role
    from service.engine.factory import open_engine
    from service.filter import AnswerFilter

    console = Console(stderr=True)
    chosen = [Row(name) for name in _names(rows, list(Row), "rows")]
    if families and family_fold is not None:
        raise InputError("give either --families or --family-fold")
    attacks = _names(families, list(FAMILIES), "families") if families else OTHER_FAMILIES
    if family_fold is not None:
        left_out = families_of(family_fold)
        attacks = [name for name in FAMILIES if name in left_out]
    settings = given_settings(profile=profile)
    fold = None if question_fold is None else (question_fold, question_folds)
    drawn = _drawn(exam, split, fold, sample, seed, settings)
    findings = [finding for path in red_team or () for finding in read_red_team(path, drawn)]
    plan = Plan(drawn, seed, attacks, own_texts=sample, findings=findings)
    cases = plan.cases(chosen)
    shown_settings = {name: getattr(settings, name) for name in _SETTINGS}
    profile_name = Path(settings.profile).name
    folder = out or Path(f"restoration-{profile_name}-{date.today():%Y-%m-%d}")
    with console.status(f"loading {escape(settings.profile)}"):
        engine = open_engine(settings)
    with closing(engine):
        answer_filter = AnswerFilter(engine, decoding=settings.decoding)
        subject = Subject(
            profile=profile_name,
            filter_fingerprint=engine.fingerprint(Role.FILTER),
            procedure=answer_filter.procedure,
            split=split,
            sample=sample,
            seed=seed,
        )
        journal = RestorationJournal(folder, subject)
        console.print(f"{len(cases)} texts; results in {escape(str(folder))}", highlight=False)
        with progress(console, len(cases), doing="filtering") as report_done:
            outcomes, refused = filter_cases(answer_filter, cases, journal, report=report_done)
    measured = (*exam, *(red_team or ()))
    report = Report(
        subject=subject,
        settings=shown_settings,
        versions={library: version(library) for library in _LIBRARIES},
        exams={path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in measured},
        sets=report_sets(outcomes, seed=seed),
        refused=[case.key for case in refused],
    )
    (folder / "restoration.json").write_bytes(report.to_json())
    (folder / "worst.md").write_text(worst_page(outcomes), encoding="utf-8")
    terminal = Console()
    for table in tables(report):
        terminal.print(table)
    if refused:
        console.print(f"[red]{len(refused)} texts are too long for the model[/]; see `refused`")


def _names(given: str | None, known: Sequence[str], what: str) -> list[str]:
    """The names between the commas, or all that are known."""
    names = list(dict.fromkeys(given.split(","))) if given else list(known)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no {what} {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def _drawn(
    exams: Sequence[Path],
    split: str,
    fold: tuple[int, int] | None,
    sample: int,
    seed: int,
    settings: Settings,
) -> list[ExamItem]:
    """Answers of the split, as many of each course and of each of its questions as can be.

    Of a fold (which one, and of how many) come only the questions that it leaves out.
    """
    from filter_training.folds import left_out
    from filter_training.sampling import stratified, unattacked
    from service.exam_file import read_exam

    items = [
        item
        for path in exams
        for item in unattacked(read_exam(path, max_answer_chars=settings.max_answer_chars), split)
    ]
    if fold is not None:
        items = left_out(items, fold[0], folds=fold[1], seed=seed)
    courses: dict[str, list[ExamItem]] = {}
    for item in items:
        # Of a blank answer there is nothing to keep or to lose.
        if item.answer.text.strip():
            courses.setdefault(item.question.exam_id, []).append(item)
    if not courses:
        raise InputError(f"no answer of the exam files is of split {split}")
    random = Random(seed)
    shuffled = [stratified(items, len(items), random) for items in courses.values()]
    turns = (item for turn in zip_longest(*shuffled) for item in turn if item)
    return list(islice(turns, sample))
