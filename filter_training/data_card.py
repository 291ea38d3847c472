"""The data card: what a dataset holds, how long its texts are, and what it was made from."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import quantiles
from typing import Any

from filter_training.dataset import Dataset
from filter_training.dataset_file import to_json_lines
from filter_training.filter_plan import FilterPlan
from service.json_lines import read_bytes

_COUNTED = ("attack_type", "source", "placement", "carrier", "language")
_NONE = "none"


@dataclass(frozen=True)
class Origin:
    """What a dataset was made from.

    Attributes:
        exams: exam files.
        red_team: red-team files.
        from_graph: whether confirmed spans of a graph are in it.
        split: split of the exams that was used.
        left_out: questions that a fold left out, (exam, question).
        plan: shares, families and variants.
        seed: of all draws.
    """

    exams: Sequence[Path]
    red_team: Sequence[Path]
    from_graph: bool
    split: str
    left_out: Sequence[tuple[str, str]]
    plan: FilterPlan
    seed: int


def write_dataset(folder: Path, dataset: Dataset, origin: Origin) -> Path:
    """Write a dataset with its card, as `card.json` and for people as `README.md`.

    Returns:
        Path of the dataset itself.
    """
    groups = len({variant.example.group_id for variant in dataset.variants})
    path = folder / f"AttackRobustTrain_{groups}_groups_{origin.plan.variants}_variants.jsonl"
    json_lines = to_json_lines(dataset)
    card = _card(path.name, json_lines, dataset, origin)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json_lines, encoding="utf-8")
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (folder / "card.json").write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(_markdown(card), encoding="utf-8")
    return path


def _card(file_name: str, json_lines: str, dataset: Dataset, origin: Origin) -> dict[str, Any]:
    examples = [variant.example for variant in dataset.variants]
    return {
        "file": file_name,
        "sha256": hashlib.sha256(json_lines.encode()).hexdigest(),
        "groups": len({example.group_id for example in examples}),
        "examples": len(examples),
        "splits": {
            name: {"groups": len({example.group_id for example in part}), "examples": len(part)}
            for name, part in (("train", dataset.training), ("validation", dataset.validation))
        },
        "counts": {
            "attack_type": _counts(example.attack_type for example in examples),
            "source": _counts(variant.source.value for variant in dataset.variants),
            "placement": _counts(variant.placement for variant in dataset.variants),
            "carrier": _counts(variant.carrier for variant in dataset.variants),
            "language": _counts(variant.language for variant in dataset.variants),
        },
        "characters": {
            "input": _lengths(example.prompt.text for example in examples),
            "answer": _lengths(example.prompt.tail for example in examples),
            "output": _lengths(variant.output for variant in dataset.variants),
        },
        "made_from": [
            {"file": path.name, "kind": kind, "sha256": _hash(path)}
            for kind, paths in (("exam", origin.exams), ("red_team", origin.red_team))
            for path in paths
        ],
        "confirmed_in_graph": origin.from_graph,
        "exam_split": origin.split,
        "questions_left_out": ["/".join(ids) for ids in origin.left_out],
        "plan": asdict(origin.plan),
        "seed": origin.seed,
        "versions": {"steadyeval": version("steadyeval"), "python": platform.python_version()},
    }


def _counts(values: Iterable[str | None]) -> dict[str, int]:
    """How often each value occurs, the most frequent first."""
    counts = Counter(_NONE if value is None else value for value in values)
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _lengths(texts: Iterable[str]) -> dict[str, int]:
    lengths = [len(text) for text in texts]
    percentiles = quantiles(lengths, n=100, method="inclusive")
    return {
        "shortest": min(lengths),
        **{f"p{percent}": round(percentiles[percent - 1]) for percent in (5, 25, 50, 75, 95)},
        "longest": max(lengths),
    }


def _hash(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()


def _markdown(card: Mapping[str, Any]) -> str:
    splits = card["splits"]
    parts = [
        f"# {card['file']}",
        f"{card['groups']} groups, {card['examples']} examples: "
        + ", ".join(
            f"{name} {part['groups']} groups with {part['examples']} examples"
            for name, part in splits.items()
        )
        + ". Groups that were made from one answer are on one side.",
        "One JSON object a line. `group_id`, `attack_type`, `input` and `output` are the paper's "
        "fields: `input` is the prompt, `output` the honest text that all variants of a group "
        "share. `target` is what the model is trained to write, where that is not `output`; the "
        "first `head_chars` characters of `input` are the same for all answers to a question.",
        _table(("made from", "kind", "SHA-256"), [tuple(x.values()) for x in card["made_from"]]),
        "The answers in this file are those of the files above, so their licences hold for it.",
        f"Exam split: {card['exam_split']}. Spans confirmed in a graph: "
        f"{'yes' if card['confirmed_in_graph'] else 'no'}. "
        f"Questions left out: {', '.join(card['questions_left_out']) or 'none'}. "
        f"Seed: {card['seed']}. SHA-256 of the dataset: `{card['sha256']}`. "
        f"Made with {', '.join(f'{name} {number}' for name, number in card['versions'].items())}.",
        _table(("plan", "value"), [(k, json.dumps(v)) for k, v in card["plan"].items()]),
        "## Characters",
        _table(
            ("text", *next(iter(card["characters"].values()))),
            [(name, *values.values()) for name, values in card["characters"].items()],
        ),
        "## Counts",
        *(_table((name, "examples"), list(card["counts"][name].items())) for name in _COUNTED),
    ]
    return "\n\n".join(parts) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
