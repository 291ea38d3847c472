from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from service.engine.base import Engine
from service.settings import Settings

# No test rests on how fast a machine is.
settings.register_profile("steadyeval", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steadyeval")

_PROFILE = """\
chat_template = ""
dtype_cpu = "float32"
dtype_gpu = "float32"
justification = "prose"
provisional = true
max_grade_tokens = 24

[base]
folder = "base"

[adapters]
filter = "filter"
grade = "grader"
"""


@pytest.fixture(scope="session")
def tiny_profile_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile folder with profile.toml, a tiny random base, a filter and a grader adapter."""
    from tests.tiny_model import write_adapter, write_base

    folder = tmp_path_factory.mktemp("tiny")
    write_base(folder / "base")
    write_adapter(folder / "filter", folder / "base", seed=1)
    write_adapter(folder / "grader", folder / "base", seed=2)
    (folder / "profile.toml").write_text(_PROFILE, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def tiny_settings(tiny_profile_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings that open the tiny profile on the CPU, with a home of their own."""
    return Settings(
        home=tmp_path_factory.mktemp("home"), profile=str(tiny_profile_dir), device="cpu"
    )


@pytest.fixture(scope="session")
def tiny_engine(tiny_settings: Settings) -> Iterator[Engine]:
    """The tiny profile, opened as the product opens any profile."""
    from service.engine.factory import open_engine

    engine = open_engine(tiny_settings)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def embedded_models(request: pytest.FixtureRequest) -> Path:
    """The base model of the embedded profile, fetched once for all test runs of this checkout.

    Link it into a home as `models`.
    """
    from service.model_store import fetch_base
    from service.profile import load_profile

    kept = Settings(home=request.config.cache.mkdir("embedded-home"))
    fetch_base(load_profile(kept.profile, kept), kept)
    return kept.models_dir
