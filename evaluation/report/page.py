"""Puts the report together. Whatever others wrote is escaped, and shown as what it is."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from math import isnan

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evaluation.evaluated import TextKey
from evaluation.layout import Layout
from evaluation.report.highlight import visible
from evaluation.report.prose import summary_sentences
from evaluation.report.worst_cases import worst_cases
from evaluation.run_journal import RunDescription
from evaluation.scores import Scores
from evaluation.tables import Table
from evaluation.tables.rendering import cell_lines, foot_notes, table_title
from service.exam import format_score

_FIRST = ("course_use", "agreement", "paired_differences", "by_style", "by_dimension")
"""Tables that have sections of their own; the audit of removed spans has one too."""
_AUDIT = "removed_from_honest"


def report_page(
    scores: Scores,
    tables: Mapping[str, Table],
    figures: Mapping[str, bytes],
    layout: Layout,
    *,
    description: RunDescription | None,
    texts: Mapping[TextKey, str] | None,
) -> str:
    """The report as an HTML page without scripts, with all images in it.

    Args:
        scores: what was scored.
        tables: name → table.
        figures: caption → SVG.
        layout: of tables and figures.
        description: how the scores were made, where that is known.
        texts: every variant, where answers may be shown.
    """
    environment = Environment(
        loader=PackageLoader("evaluation.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_made_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = _points
    environment.globals |= {
        "cell_lines": cell_lines,
        "foot_notes": foot_notes,
        "table_title": table_title,
    }
    return environment.get_template("page.html.jinja").render(
        exams=scores.exams,
        sentences=list(summary_sentences(scores, tables, layout)),
        sections=[tables[name] for name in _FIRST if name in tables],
        audit=tables[_AUDIT],
        tables=[table for name, table in tables.items() if name not in (*_FIRST, _AUDIT)],
        figures=[
            (caption, f"data:image/svg+xml;base64,{b64encode(svg).decode('ascii')}")
            for caption, svg in figures.items()
        ],
        worst=worst_cases(scores, layout, texts),
        description=None if description is None else description.model_dump(mode="json"),
        with_texts=texts is not None,
    )


def _made_visible(value: object) -> object:
    """What the page prints; only the page's own markup is left as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _points(score: float) -> str:
    return "none" if isnan(score) else format_score(round(score, 2))
