"""The report of an evaluation: one HTML page that needs nothing beside itself."""

from __future__ import annotations

from evaluation.report.page import report_page

__all__ = ["report_page"]
