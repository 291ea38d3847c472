"""Filters and graders of an evaluation may be of different profiles."""

from __future__ import annotations

import pytest

from evaluation.engines import open_engines
from evaluation.pipelines import pipelines_named
from service.settings import Settings
from tests.service.scripted_engine import ScriptedEngine


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedEngine]:
    """Profile → its engine, once it is open."""
    engines: dict[str, ScriptedEngine] = {}

    def open_engine(settings: Settings) -> ScriptedEngine:
        assert settings.profile not in engines
        engines[settings.profile] = ScriptedEngine(name=settings.profile)
        return engines[settings.profile]

    monkeypatch.setattr("service.engine.factory.open_engine", open_engine)
    return engines


def test_each_pipeline_has_its_grader(opened: dict[str, ScriptedEngine]) -> None:
    pipelines = pipelines_named("none,copy,copy@b,none@c,hardened@c,none@a")
    with open_engines(Settings(), pipelines.values(), filters="a", grades="b") as engines:
        models = {name: engines.models(pipeline) for name, pipeline in pipelines.items()}
        graders = {name: one.grader.engine for name, one in models.items()}
        assert graders == {
            "none": opened["b"],
            "copy": opened["b"],
            "copy@b": opened["b"],
            "none@c": opened["c"],
            "hardened@c": opened["c"],
            "none@a": opened["a"],
        }
        assert all(one.filter.engine is opened["a"] for one in models.values())
        assert engines.fingerprints == {
            "filter": "a-filter",
            "grade": "b-grade",
            "grade@b": "b-grade",
            "grade@c": "c-grade",
            "grade@a": "a-grade",
        }
        assert engines.profiles == {"filter": "a", "grade": "b"}
        assert not any(engine.closed for engine in opened.values())
    assert all(engine.closed for engine in opened.values())
