"""Requests and responses that the OpenAPI page shows: the files of `examples/`."""

from __future__ import annotations

import json
from typing import Any

from service.resources import examples_dir


def _load(name: str) -> dict[str, Any]:
    loaded = json.loads((examples_dir() / name).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


GRADE_REQUEST = _load("grade-request.json")
GRADE_RESPONSE = _load("grade-response.json")
FILTER_RESPONSE = _load("filter-response.json")
REGISTER_EXAM = _load("register-exam.json")
