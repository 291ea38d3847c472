"""Loss curves of a run as a picture."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.figure import Figure


def draw_curves(progress: Path, picture: Path) -> None:
    """Draw the losses of a `progress.jsonl` by optimizer step into a PNG file.

    A run that was killed has some steps twice; the last of each counts.
    """
    lines = [json.loads(line) for line in progress.read_text(encoding="utf-8").splitlines()]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for field, label, style in (
        ("training_loss", "training", "-"),
        ("validation_loss", "validation", "o"),
    ):
        losses = {line["step"]: line[field] for line in lines if line[field] is not None}
        steps = sorted(losses)
        axes.plot(steps, [losses[step] for step in steps], style, label=label)
    axes.set_xlabel("optimizer step")
    axes.set_ylabel("loss")
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(picture, dpi=120)
