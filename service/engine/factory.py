"""Opens the engine that the settings name."""

from __future__ import annotations

from service.engine.base import Engine
from service.errors import SettingsError
from service.model_store import locate
from service.profile import load_profile
from service.settings import Settings


def open_engine(settings: Settings) -> Engine:
    """The engine of the settings, with its model loaded or its server checked.

    Raises:
        SettingsError: a setting is wrong, or the engine's libraries are not installed.
        ModelError: the profile cannot be used.
        EngineError: the server cannot be used.
    """
    profile = load_profile(settings.profile, settings)
    try:
        if settings.engine == "openai":
            from service.engine.openai_engine import open_openai_engine

            return open_openai_engine(settings, profile)
        files = locate(profile, settings)
        from service.engine.transformers_engine import TransformersEngine
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"this engine needs {error.name}: run `pip install 'steadyeval[embedded]'`"
        ) from error
    return TransformersEngine(
        profile, files, device=settings.device, batch_size=settings.batch_size
    )
