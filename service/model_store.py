"""Where the weights of a profile are, and how they get there.

A base model from a hub or a package is kept in `STEADYEVAL_HOME/models/<profile>-<source>/`. The
folder is filled under another name and renamed once it is whole, so whoever sees it sees all of
it. A base in a folder of the user's is used in place; only its hashes are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from filelock import FileLock

from service.download import Progress, download_hub, download_package
from service.engine.base import Role
from service.errors import FetchError, HashMismatchError, MissingWeightsError, TermsError
from service.manifest import MANIFEST_FILE, Manifest, hash_file, model_files
from service.profile import (
    BaseSource,
    FolderBase,
    HubBase,
    ModelProfile,
    Terms,
    user_profiles_dir,
)
from service.resources import models_dir
from service.settings import Settings
from service.terms import is_accepted, record_acceptance

ADAPTER_CONFIG, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
"""What an adapter folder in PEFT's format holds."""
_ADAPTER_FILES = (ADAPTER_CONFIG, ADAPTER_WEIGHTS)
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model")


@dataclass(frozen=True)
class BaseFiles:
    """A base model on disk, and one hash over its files."""

    path: Path
    sha256: str


@dataclass(frozen=True)
class AdapterFiles:
    """A PEFT adapter on disk, and one hash over its configuration and weights."""

    path: Path
    sha256: str


@dataclass(frozen=True)
class ModelFiles:
    """All that an engine loads for a profile."""

    base_dir: Path
    base_hash: str
    adapters: Mapping[Role, AdapterFiles]


def locate(profile: ModelProfile, settings: Settings) -> ModelFiles:
    """Base and adapters of `profile`, without loading or fetching anything.

    Raises:
        MissingWeightsError: something is not there; the text says what to run.
    """
    base = locate_base(profile, settings)
    return ModelFiles(base.path, base.sha256, locate_adapters(profile))


def locate_base(profile: ModelProfile, settings: Settings) -> BaseFiles:
    """The base model of `profile`.

    Raises:
        MissingWeightsError: it is not there; the text says what to run.
    """
    if isinstance(profile.base, FolderBase):
        return _locate_folder(profile, profile.base.path, settings)
    folder = _base_dir(profile, settings)
    manifest = Manifest.read(folder / MANIFEST_FILE)
    if manifest is None:
        raise MissingWeightsError(
            f"the base model of profile {profile.name} ({profile.base}) is not in "
            f"{settings.models_dir}; run `{_fetch_command(profile, settings)}`"
        )
    return BaseFiles(folder, manifest.digest)


def locate_adapters(profile: ModelProfile) -> Mapping[Role, AdapterFiles]:
    """The adapters of `profile`.

    Raises:
        MissingWeightsError: one is not there, or the profile names no filter.
    """
    if Role.FILTER not in profile.adapters:
        raise MissingWeightsError(
            f"profile {profile.name} names no filter adapter; train one (docs/profiles.md says "
            f"how) and name it under [adapters] in {profile.folder / 'profile.toml'}"
        )
    if missing := missing_adapters(profile):
        raise MissingWeightsError(
            "\n".join(
                f"the {role} adapter of profile {profile.name} is not in "
                f"{profile.adapters[role]}; {what_to_run}"
                for role, what_to_run in missing.items()
            )
        )
    return {role: _adapter_files(folder) for role, folder in profile.adapters.items()}


def missing_adapters(profile: ModelProfile) -> Mapping[Role, str]:
    """Adapters that the profile names but that are not there, each with what to do about it."""
    return {
        role: (
            f"run `steadyeval train run {profile.recipes[role]} --exam EXAM --out RUN` "
            f"and copy RUN/adapter to {folder}"
            if role in profile.recipes
            else "copy a PEFT adapter there"
        )
        for role, folder in profile.adapters.items()
        if not all((folder / name).is_file() for name in _ADAPTER_FILES)
    }


def terms_to_accept(profile: ModelProfile, settings: Settings) -> Terms | None:
    """The terms that somebody has to accept before the base of `profile` is fetched, if any."""
    if profile.terms is None or is_accepted(profile.terms, _terms_file(profile, settings)):
        return None
    return profile.terms


def accept_terms(profile: ModelProfile, settings: Settings) -> None:
    """Remember beside the base of `profile` that its terms were accepted.

    Raises:
        FetchError: it cannot be written down.
    """
    if profile.terms is None:
        return
    file = _terms_file(profile, settings)
    try:
        record_acceptance(profile.terms, file)
    except OSError as error:
        raise FetchError(f"cannot write to {file} that terms were accepted: {error}") from error


def fetch_base(
    profile: ModelProfile, settings: Settings, progress: Progress = lambda *_: None
) -> BaseFiles:
    """Bring the base model of `profile` if it is not there. Safe to kill and to run twice at once.

    Raises:
        TermsError: its terms have not been accepted.
        FetchError: the base cannot be had from its source.
        HashMismatchError: what came is not what was published.
    """
    if isinstance(profile.base, FolderBase):
        return locate_base(profile, settings)
    if terms := terms_to_accept(profile, settings):
        raise TermsError(
            f"the base model of profile {profile.name} comes under the {terms.title}: read them at "
            f"{terms.url} and, if you accept them, run "
            f"`{_fetch_command(profile, settings)} --accept-terms`"
        )
    folder = _base_dir(profile, settings)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if Manifest.read(folder / MANIFEST_FILE) is None:
                _fill(profile.base, folder, progress)
    except OSError as error:
        raise FetchError(f"cannot write the base model to {folder}: {error}") from error
    return locate_base(profile, settings)


def check(
    profile: ModelProfile, settings: Settings, progress: Progress = lambda *_: None
) -> ModelFiles:
    """Hash every file of the base model again.

    Raises:
        HashMismatchError: a file is not the one that was fetched.
        MissingWeightsError: something is not there.
    """
    # Read before anything is located: a folder of the user's that has changed is hashed anew there.
    known = Manifest.read(_manifest_file(profile, settings))
    folder = _base_dir(profile, settings)
    if known and (faults := known.faults(_hash_folder(folder, progress))):
        raise HashMismatchError(
            f"the base model of profile {profile.name} in {folder} is not the one that was "
            f"hashed: {'; '.join(faults)}. {_mend(profile, settings)}"
        )
    return locate(profile, settings)


def _fill(base: BaseSource, folder: Path, progress: Progress) -> None:
    rmtree(folder, ignore_errors=True)
    partial = folder.with_name(f".{folder.name}.partial")
    if isinstance(base, HubBase):
        download_hub(base, partial)
    elif not isinstance(base, FolderBase):
        download_package(base, partial, progress)
    if fault := _not_a_model(partial):
        raise FetchError(f"{base} is no model that transformers can load: {fault}")
    manifest = _hash_folder(partial, progress)
    if isinstance(base, HubBase):
        _compare_with_published(base, manifest, partial)
    manifest.write(partial / MANIFEST_FILE)
    partial.rename(folder)


def _compare_with_published(base: HubBase, manifest: Manifest, partial: Path) -> None:
    for name, published in base.sha256.items():
        entry = manifest.files.get(name)
        if entry is None or entry.sha256 != published:
            rmtree(partial)
            raise HashMismatchError(
                f"{name} of {base} has SHA-256 {entry.sha256 if entry else None}, "
                f"but the profile says {published}; the download was removed"
            )


def _locate_folder(profile: ModelProfile, folder: Path, settings: Settings) -> BaseFiles:
    if fault := _not_a_model(folder):
        raise MissingWeightsError(
            f"the base model of profile {profile.name} is not in {folder}: {fault}. "
            "Put a model and its tokenizer there, as save_pretrained writes them"
        )
    file = _manifest_file(profile, settings)
    manifest = Manifest.read(file)
    if manifest is None or not manifest.untouched(folder):
        manifest = Manifest.of(folder)
        with suppress(OSError):  # a home that cannot be written costs time, nothing else
            file.parent.mkdir(parents=True, exist_ok=True)
            manifest.write(file)
    return BaseFiles(folder, manifest.digest)


def _not_a_model(folder: Path) -> str | None:
    if not folder.is_dir():
        return "there is no such folder"
    names = {file.name for file in model_files(folder)}
    if "config.json" not in names:
        return "config.json is missing"
    if not any(name.endswith(".safetensors") for name in names):
        return "there are no *.safetensors weights"
    if names.isdisjoint(_TOKENIZER_FILES):
        return f"there is no tokenizer ({' or '.join(_TOKENIZER_FILES)})"
    return None


def _hash_folder(folder: Path, progress: Progress) -> Manifest:
    total = sum(file.stat().st_size for file in model_files(folder))
    return Manifest.of(folder, _counter(progress, total))


def _counter(progress: Progress, total: int) -> Callable[[int], None]:
    done = 0

    def hashed(more: int) -> None:
        nonlocal done
        done += more
        progress("hash", done, total)

    return hashed


def _adapter_files(folder: Path) -> AdapterFiles:
    hashes = "".join(f"{hash_file(folder / name)}  {name}\n" for name in _ADAPTER_FILES)
    return AdapterFiles(folder, hashlib.sha256(hashes.encode()).hexdigest())


def _base_dir(profile: ModelProfile, settings: Settings) -> Path:
    if isinstance(profile.base, FolderBase):
        return profile.base.path
    own = settings.models_dir / _store_name(profile)
    # What another profile has fetched from the same source is the same.
    others = settings.models_dir.glob(f"*-{_source_hash(profile)}")
    return own if own.is_dir() else min(others, default=own)


def _manifest_file(profile: ModelProfile, settings: Settings) -> Path:
    if isinstance(profile.base, FolderBase):
        return settings.models_dir / f"{_store_name(profile)}.json"
    return _base_dir(profile, settings) / MANIFEST_FILE


def _terms_file(profile: ModelProfile, settings: Settings) -> Path:
    return settings.models_dir / f"{_store_name(profile)}.terms.json"


def _store_name(profile: ModelProfile) -> str:
    return f"{profile.name}-{_source_hash(profile)}"


def _source_hash(profile: ModelProfile) -> str:
    return hashlib.sha256(repr(profile.base).encode()).hexdigest()[:12]


def _fetch_command(profile: ModelProfile, settings: Settings) -> str:
    named = profile.folder.parent in (models_dir(), user_profiles_dir(settings))
    return f"steadyeval models fetch {profile.name if named else profile.folder}"


def _mend(profile: ModelProfile, settings: Settings) -> str:
    if isinstance(profile.base, FolderBase):
        return "If you changed it on purpose, its grades are those of another model from now on"
    return f"Delete that folder and run `{_fetch_command(profile, settings)}`"
