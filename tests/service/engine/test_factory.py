from __future__ import annotations

import subprocess
import sys

import pytest

from service.engine.base import Engine
from service.engine.factory import open_engine
from service.engine.transformers_engine import TransformersEngine
from service.errors import ProfileError, SettingsError
from service.settings import Settings


def test_a_profile_opens_as_a_transformers_engine(tiny_engine: Engine) -> None:
    assert isinstance(tiny_engine, TransformersEngine)
    assert tiny_engine.cuts_by == "copy"
    assert tiny_engine.justifies


def test_an_unknown_profile_is_refused(tiny_settings: Settings) -> None:
    with pytest.raises(ProfileError, match="nowhere"):
        open_engine(tiny_settings.model_copy(update={"profile": "nowhere"}))


def test_missing_libraries_are_named_with_what_to_run(
    tiny_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "service.engine.transformers_engine", raising=False)
    monkeypatch.setitem(sys.modules, "service.engine.language_model", None)
    with pytest.raises(SettingsError, match=r"pip install 'steadyeval\[embedded\]'"):
        open_engine(tiny_settings)


def test_importing_the_factory_loads_no_model_library() -> None:
    code = (
        "import sys, service.engine.factory; assert not {'torch', 'transformers'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
