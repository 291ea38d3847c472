from __future__ import annotations

import json
from pathlib import Path

import pytest

from filter_training.dataset import Dataset
from filter_training.dataset_file import read_dataset, to_json_lines
from filter_training.filter_data import filter_dataset
from filter_training.filter_plan import FilterPlan
from filter_training.marked import Span, without
from service.errors import ExamFileError
from tests.filter_training.world import items

PLAN = FilterPlan(variants=6, families="all", benign_share=0.2, empty_share=0.2)


@pytest.fixture
def dataset() -> Dataset:
    variants = filter_dataset(items(), PLAN, groups=10, seed=1)
    return Dataset.split(variants, validation_share=0.2, seed=1)


def test_a_dataset_comes_back_from_its_file(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "dataset.jsonl"
    path.write_text(to_json_lines(dataset), encoding="utf-8")
    assert read_dataset(path) == dataset


def test_lines_have_the_papers_fields(dataset: Dataset) -> None:
    outputs: dict[str, set[str]] = {}
    for line, variant in zip(to_json_lines(dataset).splitlines(), dataset.variants, strict=True):
        fields = json.loads(line)
        assert list(fields)[:4] == ["group_id", "attack_type", "input", "output"]
        assert fields["input"] == variant.example.prompt.text
        cuts = [Span(start, end) for start, end in fields.get("cuts", [])]
        assert without(fields["text"], cuts) == variant.example.target
        outputs.setdefault(fields["group_id"], set()).add(fields["output"])
    assert all(len(shared) == 1 for shared in outputs.values())


def test_every_fault_of_a_file_is_named(dataset: Dataset, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in to_json_lines(dataset).splitlines()[:3]]
    lines[0]["split"] = "train"
    lines[1]["split"] = "validation"
    del lines[2]["output"]
    path = tmp_path / "dataset.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), "no JSON"]), encoding="utf-8")
    with pytest.raises(ExamFileError) as caught:
        read_dataset(path)
    assert [(error.line, error.column) for error in caught.value.errors] == [
        (2, "split"),
        (3, "output"),
        (4, None),
    ]
    path.write_text("", encoding="utf-8")
    with pytest.raises(ExamFileError, match="no examples"):
        read_dataset(path)
