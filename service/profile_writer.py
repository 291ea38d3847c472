"""Writes the profile of a user's own model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from service.engine.base import Role
from service.errors import ProfileError
from service.profile import (
    PROFILE_FILE,
    ModelProfile,
    check_name,
    profile_names,
    read_profile,
    user_profiles_dir,
)
from service.settings import Settings

_GRADE_TOKENS = {"prose": 256, "none": 16}


def write_profile(
    name: str,
    settings: Settings,
    *,
    base: str,
    revision: str | None,
    adapters: Mapping[Role, Path],
    justification: Literal["none", "prose"],
) -> ModelProfile:
    """Write `STEADYEVAL_HOME/profiles/<name>/profile.toml` and read it back.

    Args:
        name: name of the new profile.
        settings: where the profiles lie.
        base: a folder, or else a hub id.
        revision: commit of the hub repository.
        adapters: folders of PEFT adapters.
        justification: whether the grader writes prose before its score.

    Raises:
        ProfileError: the name is taken, or what was given makes no valid profile.
    """
    check_name(name)
    if name in profile_names(settings):
        raise ProfileError(f"there is a profile {name!r} already; choose another name")
    if missing := [str(path) for path in adapters.values() if not path.is_dir()]:
        raise ProfileError(f"there is no adapter folder {', '.join(missing)}")
    folder = user_profiles_dir(settings) / name
    lines = [
        "# docs/profiles.md explains each field.",
        f"justification = {_quoted(justification)}",
        f"max_grade_tokens = {_GRADE_TOKENS[justification]}",
        "# Turn this off once you have measured how well this model grades.",
        "provisional = true",
        *_base_lines(base, revision),
        "",
        "[adapters]",
        *(f"{role} = {_quoted(str(path.resolve()))}" for role, path in adapters.items()),
    ]
    folder.mkdir(parents=True)
    file = folder / PROFILE_FILE
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        return read_profile(folder)
    except ProfileError:
        file.unlink()
        folder.rmdir()
        raise


def _base_lines(base: str, revision: str | None) -> list[str]:
    folder = Path(base).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise ProfileError(f"{base} is a folder; --revision is for a model on the hub")
        return ["", "[base]", f"folder = {_quoted(str(folder.resolve()))}"]
    if base.count("/") != 1 or base.startswith((".", "/", "~")):
        raise ProfileError(f"there is no folder {base}, and it is no hub id such as org/model")
    if revision is None:
        raise ProfileError(
            f"say which commit of {base} to take: --revision COMMIT (its page on the hub lists "
            "them); a name such as main would silently become another model one day"
        )
    return ["", "[base.hub]", f"repo = {_quoted(base)}", f"revision = {_quoted(revision)}"]


def _quoted(text: str) -> str:
    """A TOML basic string: JSON escapes are valid there, but TOML takes no bare DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
