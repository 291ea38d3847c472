"""`steadyeval demo`: grade a small exam, show what the attacks did, and audit one grade."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from service.cli.batch import report_refused
from service.cli.cell import cell
from service.cli.grade import grade_items
from service.cli.models import fetch
from service.exam import format_score
from service.exam_file import read_exam
from service.profile import ModelProfile, load_profile
from service.resources import examples_dir
from service.settings import load_settings

if TYPE_CHECKING:
    from service.graph import GraphStore
    from service.pipeline import GradedAnswer

CLEAN = "clean"
_OTHER_COLUMNS = 64
"""Width of the table without its last column."""
_CELL_SHOWN = 400


@dataclass(frozen=True)
class Row:
    """A graded answer beside its clean twin: the same answer without the attack."""

    graded: GradedAnswer
    twin: GradedAnswer | None

    @property
    def attacked(self) -> bool:
        """True if the answer carries an attack."""
        return self.graded.submission.attack_type != CLEAN

    @property
    def restored(self) -> bool:
        """True if the attacked answer got the grade of its clean twin."""
        return self.twin is not None and self.graded.final_score == self.twin.final_score

    @property
    def cleaned(self) -> bool:
        """True if the filter made the attacked answer what it makes of its clean twin."""
        return self.twin is not None and self.graded.cleaned_answer == self.twin.cleaned_answer

    @property
    def moved(self) -> float:
        """How far the attack moved the grade that the raw answer gets."""
        scores = [graded.baseline.predicted_score for graded in (self.graded, self.twin) if graded]
        known = [score for score in scores if score is not None]
        return known[0] - known[1] if len(known) == 2 else 0.0


def demo() -> None:
    """Grade a small exam, attacked and clean, and audit one grade. Keeps all in STEADYEVAL_HOME."""
    # Only here, since only here a graph is needed.
    from service.graph import open_graph

    settings = load_settings()
    console = Console()
    fetch()
    items = read_exam(examples_dir() / "exam.jsonl", max_answer_chars=settings.max_answer_chars)
    with ExitStack() as stack:
        graph = None if settings.graph == "none" else stack.enter_context(open_graph(settings))
        graded, refused = grade_items(items, settings, console)
        rows = _rows(graded)
        console.print(_table(rows, console.width))
        report_refused(refused, console)
        for line in _verdict(rows, load_profile(settings.profile, settings)):
            console.print(line)
        attacked = [row for row in rows if row.attacked]
        if graph is not None and attacked:
            _audit(max(attacked, key=lambda row: abs(row.moved)), graph, console)
    console.print(_NEXT.format(home=escape(str(settings.home))))


def _rows(graded: Sequence[GradedAnswer]) -> list[Row]:
    def answer(one: GradedAnswer) -> tuple[str, str]:
        return one.submission.exam_id, one.submission.answer_id

    twins = {answer(one): one for one in graded if one.submission.attack_type == CLEAN}
    return [
        Row(one, None if one.submission.attack_type == CLEAN else twins.get(answer(one)))
        for one in graded
    ]


def _table(rows: Sequence[Row], width: int) -> Table:
    table = Table(
        title="Graded as it stands (baseline) and behind the filter (filtered)",
        caption="↑ ↓ how far the attack moved the baseline; = the grade of the clean twin",
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    for name in ("question", "student", "attack"):
        table.add_column(name, no_wrap=True)
    for name in ("twin", "baseline", "filtered"):
        table.add_column(name, justify="right", no_wrap=True)
    rest = max(width - _OTHER_COLUMNS, 12)
    table.add_column("removed", no_wrap=True, overflow="ellipsis", max_width=rest)
    previous = None
    for row in rows:
        question = row.graded.question.question_id
        if previous not in (None, question):
            table.add_section()
        table.add_row(
            question if question != previous else "",
            row.graded.submission.student_id,
            row.graded.submission.attack_type,
            _score(row.twin.final_score) if row.twin else "",
            _score(row.graded.baseline.predicted_score) + _arrow(row),
            _filtered(row),
            _removed(row.graded),
        )
        previous = question
    return table


def _score(score: float | None) -> str:
    return "none" if score is None else format_score(score)


def _arrow(row: Row) -> str:
    if not row.attacked or not row.moved:
        return "   "
    sign = "↑" if row.moved > 0 else "↓"
    return f" [yellow]{sign}{format_score(abs(row.moved))}[/]"


def _filtered(row: Row) -> str:
    score = _score(row.graded.final_score)
    if row.twin is None:
        return score
    return f"[green]{score} =[/]" if row.restored else f"[red]{score} ≠[/]"


def _removed(graded: GradedAnswer) -> Text:
    return cell(" … ".join(" ".join(span.text.split()) for span in graded.removed_spans))


def _verdict(rows: Sequence[Row], profile: ModelProfile) -> list[str]:
    attacked = [row for row in rows if row.twin]
    clean = [row for row in rows if not row.attacked]
    restored = sum(row.restored for row in attacked)
    cleaned = sum(row.restored and row.cleaned for row in attacked)
    untouched = sum(not row.graded.removed_spans for row in clean)
    up = sum(row.moved > 0 for row in attacked)
    down = sum(row.moved < 0 for row in attacked)
    lines = [
        f"[bold]{restored} of {len(attacked)} attacked answers got the grade of their clean twin"
        f"[/], {cleaned} of them with exactly the attack removed; "
        f"the filter left {untouched} of {len(clean)} clean answers as they were.",
        f"Without the filter, the attacks moved {up + down} of {len(attacked)} grades: "
        f"{up} up, {down} down.",
    ]
    lines += [
        f"[red]The filter left a part of the attack, or took too much, in {_name(row.graded)}.[/]"
        for row in attacked
        if not row.cleaned
    ]
    lines += [
        f"A person must look at {_name(row.graded)}: {', '.join(row.graded.review_reasons)}."
        for row in rows
        if row.graded.status == "needs_review"
    ]
    if any(row.graded.provisional for row in rows):
        reason = (
            "the model is for trying and teaching"
            if profile.provisional
            else "no course has calibrated them"
        )
        lines.append(f"All of these grades are provisional: {reason}.")
    return lines


def _name(graded: GradedAnswer) -> str:
    return escape(f"{graded.submission.answer_id} ({graded.submission.attack_type})")


def _audit(row: Row, graph: GraphStore, console: Console) -> None:
    """Run the query for the answer, and show a column for each of its rows."""
    from service.graph.queries import Query, documented_queries

    name = "why-this-grade"
    text = documented_queries()[name].read_text(encoding="utf-8")
    parameters = {
        "exam_id": row.graded.submission.exam_id,
        "answer_id": row.graded.submission.answer_id,
    }
    console.rule(f"neo4j/queries/{name}.cypher")
    statement = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    console.print(Syntax(statement.strip(), "cypher", background_color="default", word_wrap=True))
    result = Query.parse(text).run(graph, parameters)
    table = Table(title=", ".join(f"${name} = {value}" for name, value in parameters.items()))
    table.add_column("column", no_wrap=True)
    for number in range(1, len(result.rows) + 1):
        table.add_column(f"row {number}")
    for name, *values in zip(result.columns, *result.rows, strict=True):
        table.add_row(name, *(cell(value, at_most=_CELL_SHOWN) for value in values))
    console.print(table)


_NEXT = """
Go on:
  steadyeval graph query FILE     the other questions to the graph: neo4j/queries/
  steadyeval grade EXAM --out F   an exam of your own
  steadyeval serve                the same over HTTP
These commands are in .venv/bin. What the demo made is in {home}; with
STEADYEVAL_HOME set to that folder, they work on it."""
