"""What adaptive attackers reached: success against rounds as tables, a figure, and numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from pydantic import TypeAdapter

from evaluation.adaptive.journal import AttackDescription
from evaluation.adaptive.search import RISE, Attack, Try
from evaluation.bootstrap import Estimate, estimates
from evaluation.figures import Drawing, write_figure
from evaluation.metrics import Floats, PairSums
from evaluation.pipelines import pipeline_named
from evaluation.tables import Cell, Column, Row, Table, write_table
from service.errors import InputError

EVERY_FAMILY = "all"
"""The row of all families together."""


@dataclass(frozen=True)
class Curve:
    """How far the attacks of a family got, round by round; shares in per cent.

    Attributes:
        pipeline: what guards the answers.
        attack_type: the family, or all of them.
        success: by round, of the answers whose clean score leaves room, the share of attacks that
            are left in part and lift the score by two points of ten or more.
        survival: by round, the share of attacks of which anything is left.
        words_left: by round, the mean share of words left of the attack that most is left of.
    """

    pipeline: str
    attack_type: str
    success: tuple[Estimate, ...]
    survival: tuple[Estimate, ...]
    words_left: tuple[Estimate, ...]


@dataclass(frozen=True)
class AdaptiveReport:
    """All numbers of an adaptive attack, `adaptive.json`.

    Attributes:
        description: what it is of.
        points: by how much a score has to rise, in points of ten.
        tries: pipeline → how many attacked texts were tried.
        curves: of each pipeline and family.
    """

    description: AttackDescription
    points: float
    tries: Mapping[str, int]
    curves: tuple[Curve, ...]


def report(attacks: Sequence[Attack], description: AttackDescription) -> AdaptiveReport:
    """The numbers of attacks that are over."""
    return AdaptiveReport(
        description=description,
        points=RISE,
        tries={
            name: sum(len(list(attack.tries)) for attack in _of(attacks, name))
            for name in description.pipelines
        },
        curves=tuple(_curves(attacks, description)),
    )


def tables(found: AdaptiveReport, attacks: Sequence[Attack]) -> list[Table]:
    """Success and survival by round, and what each move was good for."""
    return [
        _rounds_table(
            "adaptive_success",
            f"Adaptive attacks that are left in part and lift the score by {RISE:g} points of ten "
            "or more within so many rounds [%], of the answers whose clean score leaves room.",
            {(curve.pipeline, curve.attack_type): curve.success for curve in found.curves},
        ),
        _rounds_table(
            "adaptive_survival",
            "Adaptive attacks of which anything is left within so many rounds [%].",
            {(curve.pipeline, curve.attack_type): curve.survival for curve in found.curves},
        ),
        _moves_table(attacks, list(found.description.pipelines)),
    ]


def write_results(
    folder: Path, attacks: Sequence[Attack], description: AttackDescription
) -> list[Table]:
    """Write tables, figure, `adaptive.json`, and the attacks that got through, `found.jsonl`.

    Returns:
        The tables.

    Raises:
        InputError: the folder cannot be written to.
    """
    found = report(attacks, description)
    made = tables(found, attacks)
    try:
        for part in ("tables", "figures"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        for table in made:
            write_table(table, folder / "tables")
        write_figure(drawing(found), folder / "figures")
        numbers = TypeAdapter(AdaptiveReport).dump_json(found, indent=2) + b"\n"
        (folder / "adaptive.json").write_bytes(numbers)
        lines = (
            json.dumps(one, ensure_ascii=False) + "\n" for one in findings(attacks, description)
        )
        (folder / "found.jsonl").write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    return made


def findings(
    attacks: Sequence[Attack], description: AttackDescription
) -> Iterator[dict[str, object]]:
    """Of each attack that got through, the one that the attacker would hand in, as a finding.

    The lines are those of a red-team file, which `steadyeval train dataset --red-team` takes.
    They hold answers of students.
    """
    for attack in attacks:
        through = [one for one in attack.tries if attack.succeeds(one)]
        one = through[0] if through else attack.best(description.sees)
        if one.survives:
            item, marked = attack.target.item, one.candidate.marked
            yield {
                "dataset": item.question.exam_id,
                "question_id": item.question.question_id,
                "answer_id": item.answer.answer_id,
                "student_answer": marked.text,
                "spans": [[span.start, span.end] for span in marked.spans],
                "removed": [[span.start, span.end] for span in one.removed],
                "attack_type": attack.family,
                "pipeline": attack.target.pipeline,
                "round": one.attempt.round,
                "move": one.candidate.move,
                "clean_score": attack.target.clean.score,
                "score": one.attempt.score,
                "succeeds": bool(through),
            }


def drawing(found: AdaptiveReport) -> Drawing:
    """Success above, survival below, a line for each family, a column for each pipeline."""
    pipelines = list(found.description.pipelines)
    with style.context("petroff10"):
        figure = Figure(figsize=(4.8 * len(pipelines), 6.4), layout="constrained")
        panels = figure.subplots(2, len(pipelines), sharex=True, sharey="row", squeeze=False)
        kinds: Sequence[tuple[str, Callable[[Curve], Sequence[Estimate]]]] = (
            ("success [%]", lambda curve: curve.success),
            ("survival [%]", lambda curve: curve.survival),
        )
        for axes_row, (label, series) in zip(panels, kinds, strict=True):
            axes_row[0].set_ylabel(label)
            for axes, pipeline in zip(axes_row, pipelines, strict=True):
                axes.set_title(pipeline_named(pipeline).variant)
                for curve in found.curves:
                    if curve.pipeline == pipeline:
                        whole = curve.attack_type == EVERY_FAMILY
                        axes.plot(
                            [estimate.value for estimate in series(curve)],
                            label=curve.attack_type,
                            color="black" if whole else None,
                            linewidth=2.5 if whole else 1.2,
                        )
                axes.set_ylim(-2, 102)
                axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        for axes in panels[-1]:
            axes.set_xlabel("rounds")
        panels[0][-1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    return Drawing("adaptive", "Success and survival of adaptive attacks by round.", figure)


def _curves(attacks: Sequence[Attack], description: AttackDescription) -> Iterator[Curve]:
    for pipeline in description.pipelines:
        families = {
            family: [attack for attack in _of(attacks, pipeline) if attack.family == family]
            for family in description.families
        }
        groups = {family: [one] for family, one in families.items()}
        if len(families) > 1:
            groups[EVERY_FAMILY] = list(families.values())
        for name, columns in groups.items():
            first = columns[0]
            room = np.array([attack.target.room for attack in first], dtype=bool)
            question = _question_numbers(first)

            numbers = range(description.rounds + 1)
            success = [
                _shares(columns, lambda one, number: _within(one, one.succeeds, number), number)
                for number in numbers
            ]
            survival = [
                _shares(columns, lambda one, number: _within(one, _survives, number), number)
                for number in numbers
            ]
            left = [_shares(columns, _most_left, number) for number in numbers]
            samples = [
                *(PairSums.of(one, among=room) for one in success),
                *(PairSums.of(one) for one in (*survival, *left)),
            ]
            made = estimates(samples, question, seed=description.seed)
            step = description.rounds + 1
            yield Curve(
                pipeline=pipeline,
                attack_type=name,
                success=tuple(made[:step]),
                survival=tuple(made[step : 2 * step]),
                words_left=tuple(made[2 * step :]),
            )


def _of(attacks: Sequence[Attack], pipeline: str) -> list[Attack]:
    return [attack for attack in attacks if attack.target.pipeline == pipeline]


def _shares(
    columns: Sequence[Sequence[Attack]], share: Callable[[Attack, int], float], number: int
) -> Floats:
    """What each answer's attacks had reached by a round, in per cent [N, families]."""
    rows = zip(*columns, strict=True)
    return np.array([[100.0 * share(one, number) for one in row] for row in rows])


def _survives(one: Try) -> bool:
    return one.survives


def _within(attack: Attack, reached: Callable[[Try], bool], number: int) -> bool:
    first = attack.round_of(reached)
    return first is not None and first <= number


def _most_left(attack: Attack, number: int) -> float:
    return max(one.words_left for tries in attack.rounds[: number + 1] for one in tries)


def _question_numbers(attacks: Sequence[Attack]) -> NDArray[np.int64]:
    keys = [
        (attack.target.item.question.exam_id, attack.target.item.question.question_id)
        for attack in attacks
    ]
    places = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([places[key] for key in keys], dtype=np.int64)


def _rounds_table(
    name: str, caption: str, rows: Mapping[tuple[str, str], Sequence[Estimate]]
) -> Table:
    rounds = len(next(iter(rows.values())))
    return Table(
        name=name,
        caption=caption,
        keys=("Pipeline", "Attack type"),
        columns=tuple(
            Column(f"{number} rounds", digits=1, counted=not number) for number in range(rounds)
        ),
        rows=tuple(
            Row((pipeline_named(pipeline).variant, attack_type), tuple(map(Cell, series)))
            for (pipeline, attack_type), series in rows.items()
        ),
    )


def _moves_table(attacks: Sequence[Attack], pipelines: Sequence[str]) -> Table:
    rows = []
    for pipeline in pipelines:
        tries = [one for attack in _of(attacks, pipeline) for one in attack.tries]
        for move in sorted({one.candidate.move for one in tries}):
            left = np.array([one.words_left for one in tries if one.candidate.move == move])
            rows.append(
                Row(
                    (pipeline_named(pipeline).variant, move),
                    (
                        Cell(Estimate(100.0 * float((left > 0).mean()), len(left), 0)),
                        Cell(Estimate(100.0 * float(left.mean()), len(left), 0)),
                    ),
                )
            )
    return Table(
        name="adaptive_moves",
        caption="What the attackers changed, and how much of such attempts was left.",
        keys=("Pipeline", "Move"),
        columns=(
            Column("left in part [%]", digits=1),
            Column("words left [%]", digits=1, counted=False),
        ),
        rows=tuple(rows),
    )
