"""A dataset as a file: JSON Lines with the paper's four fields, and what else training needs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from filter_training.dataset import Dataset, Source, Variant
from filter_training.examples import FilterExample
from filter_training.marked import Span
from service.errors import ExamFileError, LineError
from service.json_lines import decode, json_rows, line_errors, read_bytes
from service.prompts import Prompt


class _Line(BaseModel):
    """`group_id`, `attack_type`, `input` and `output` are the paper's (section 2.2)."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    group_id: str = Field(min_length=1)
    attack_type: str = Field(min_length=1)
    input: str
    output: str
    text: str
    """What `input` shows of the answer."""
    cuts: list[tuple[int, int]] = Field(default_factory=list)
    """What of `text` the model should leave out: [start, end) in code points, ascending."""
    head_chars: int = Field(ge=0)
    """How much of `input` is the same for all answers to the question."""
    split: Literal["train", "validation"]
    source: Source
    placement: str | None = None
    carrier: str | None = None
    language: str | None = None

    @classmethod
    def of(cls, variant: Variant, *, validates: bool) -> _Line:
        example = variant.example
        return cls(
            group_id=example.group_id,
            attack_type=example.attack_type,
            input=example.prompt.text,
            output=variant.output,
            text=example.text,
            cuts=[(cut.start, cut.end) for cut in example.cuts],
            head_chars=len(example.prompt.head),
            split="validation" if validates else "train",
            source=variant.source,
            placement=variant.placement,
            carrier=variant.carrier,
            language=variant.language,
        )

    def variant(self) -> Variant:
        prompt = Prompt(self.input[: self.head_chars], self.input[self.head_chars :])
        cuts = [Span(start, end) for start, end in self.cuts]
        return Variant(
            example=FilterExample.of(self.group_id, self.attack_type, prompt, self.text, cuts),
            output=self.output,
            source=self.source,
            placement=self.placement,
            carrier=self.carrier,
            language=self.language,
        )


def to_json_lines(dataset: Dataset) -> str:
    """The content of a dataset's file."""
    return "".join(
        _Line.of(variant, validates=dataset.validates(variant)).model_dump_json(exclude_none=True)
        + "\n"
        for variant in dataset.variants
    )


def read_dataset(path: Path) -> Dataset:
    """The dataset that `to_json_lines` wrote.

    Raises:
        ExamFileError: the file has faults; it lists every one of them.
        InputError: the file cannot be opened.
    """
    faults: list[LineError] = []
    variants: list[Variant] = []
    splits: dict[str, str] = {}
    for row in json_rows(decode(read_bytes(path), faults), faults):
        try:
            line = _Line.model_validate(row.values)
        except ValidationError as error:
            faults += line_errors(row.line, error)
            continue
        if splits.setdefault(line.group_id, line.split) != line.split:
            reason = f"{line.group_id!r} is in the split {splits[line.group_id]!r} already"
            faults.append(LineError(row.line, "split", reason))
        variants.append(line.variant())
    if not variants and not faults:
        faults.append(LineError(1, None, "the file holds no examples"))
    if faults:
        raise ExamFileError(path, faults)
    held_out = frozenset(group_id for group_id, split in splits.items() if split == "validation")
    return Dataset(tuple(variants), held_out)
