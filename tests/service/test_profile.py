from __future__ import annotations

from pathlib import Path

import pytest

from filter_training.recipe import load_recipe
from service.engine.base import Role
from service.errors import ProfileError
from service.profile import FolderBase, HubBase, PackageBase, load_profile, profile_names
from service.profile_writer import write_profile
from service.resources import models_dir
from service.settings import Settings

_KNOBS = "justification = 'none'\nmax_grade_tokens = 8\nprovisional = true\n"
_BASE = "[base]\nfolder = 'model'\n"
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
SHIPPED = [
    "gemma3-270m",
    "mistral-7b",
    "smollm2-135m",
    "smollm2-135m-attacked",
    "smollm2-135m-gullible",
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_product_profile(settings: Settings) -> None:
    profile = load_profile("mistral-7b", settings)
    assert isinstance(profile.base, HubBase)
    assert profile.base.repo == "mistralai/Mistral-7B-Instruct-v0.2"
    assert profile.adapters == {Role.FILTER: models_dir() / "mistral-7b" / "SteadyEval-7B-deep"}
    assert (profile.justification, profile.max_grade_tokens) == ("prose", 256)
    assert (profile.dtype_cpu, profile.dtype_gpu) == ("float32", "bfloat16")
    assert not profile.provisional


def test_the_embedded_profile(settings: Settings) -> None:
    profile = load_profile(settings.profile, settings)
    assert profile.name == "smollm2-135m"
    assert isinstance(profile.base, PackageBase)
    assert profile.adapters == {
        Role.FILTER: models_dir() / "smollm2-135m" / "filter",
        Role.GRADE: models_dir() / "smollm2-135m" / "grader",
    }
    assert profile.provisional


def test_the_second_embedded_profile_comes_under_terms(settings: Settings) -> None:
    profile = load_profile("gemma3-270m", settings)
    assert isinstance(profile.base, PackageBase)
    assert len(profile.base.members) == 4
    assert profile.terms is not None
    assert profile.terms.title == "Gemma Terms of Use"
    note = (profile.folder / "LICENSE-NOTE.md").read_text(encoding="utf-8")
    for said in (profile.terms.title, profile.terms.url, profile.terms.notice):
        assert said in " ".join(note.split())
    assert profile.provisional


@pytest.mark.parametrize("name", ["smollm2-135m-attacked", "smollm2-135m-gullible"])
def test_a_grader_for_evaluations_shares_base_and_filter_with_its_product(
    name: str, settings: Settings
) -> None:
    product, profile = (load_profile(one, settings) for one in ("smollm2-135m", name))
    assert profile.base == product.base
    folders = (one.adapters[Role.FILTER].resolve() for one in (product, profile))
    assert len(set(folders)) == 1
    assert profile.filter_decoding == product.filter_decoding
    assert profile.adapters.get(Role.GRADE) != product.adapters[Role.GRADE]
    assert profile.provisional
    if recipe := profile.recipes.get(Role.GRADE):
        assert load_recipe(recipe).role is Role.GRADE
        assert load_recipe(recipe).profile == product.name


@pytest.mark.parametrize("name", ["gemma3-270m", "mistral-7b", "smollm2-135m"])
def test_every_adapter_has_a_recipe_for_its_role(name: str, settings: Settings) -> None:
    profile = load_profile(name, settings)
    assert profile.recipes.keys() == profile.adapters.keys()
    for role, recipe in profile.recipes.items():
        assert (load_recipe(recipe).profile, load_recipe(recipe).role) == (name, role)


def test_a_profile_says_what_its_adapters_were_taught(tmp_path: Path, settings: Settings) -> None:
    plain = load_profile(str(write(tmp_path / "plain", _KNOBS + _BASE)), settings)
    assert not any(plain.marks(role) for role in Role)
    both = "filter_decoding = 'mark'\ngrade_decoding = 'mark'\n"
    marking = load_profile(str(write(tmp_path / "marking", _KNOBS + both + _BASE)), settings)
    assert all(marking.marks(role) for role in Role)
    prose = (_KNOBS + both).replace("'none'", "'prose'")
    with pytest.raises(ProfileError, match="justification"):
        load_profile(str(write(tmp_path / "prose", prose + _BASE)), settings)


def test_a_path_is_a_profile_too(tmp_path: Path, settings: Settings) -> None:
    folder = write(tmp_path / "mine", _KNOBS + _BASE + "[adapters]\nfilter = '../filter'")
    profile = load_profile(str(folder), settings)
    assert profile.name == "mine"
    assert profile.base == FolderBase(folder / "model")
    assert profile.adapters == {Role.FILTER: folder / "../filter"}
    assert profile.chat_template is None


def test_a_name_is_never_a_folder_of_the_working_directory(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "mine", _KNOBS + _BASE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProfileError, match="gemma3-270m, mistral-7b, smollm2-135m"):
        load_profile("mine", settings)
    assert load_profile("./mine", settings).name == "mine"


def test_a_profile_of_ones_own_shadows_none(settings: Settings) -> None:
    write(settings.home / "profiles" / "mistral-7b", _KNOBS + _BASE)
    with pytest.raises(ProfileError, match="ships with SteadyEval"):
        load_profile("mistral-7b", settings)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "base"),
        (_KNOBS, "base"),
        (_KNOBS + "[base]\n", "exactly one"),
        (_KNOBS + _BASE + f"[base.hub]\nrepo='a/b'\nrevision='{_COMMIT}'", "exactly one"),
        (_KNOBS + "[base.hub]\nrepo = 'a/b'\nrevision = 'main'", "base.hub.revision"),
        (_KNOBS + f"[base.hub]\nrepo = 'nobody'\nrevision = '{_COMMIT}'", "base.hub.repo"),
        (_KNOBS + "[base.package]\npackage='a'\nversion='1'\nmember='m'", "base.package.sha256"),
        (
            _KNOBS + _BASE + "[base.terms]\ntitle='t'\nurl='ftp://x'\nnotice='n'",
            "base.terms.url",
        ),
        ("colour = 'red'\n" + _KNOBS + _BASE, "colour"),
        (_KNOBS.replace("8", "'8'") + _BASE, "max_grade_tokens"),
        (_KNOBS.replace("true", "1") + _BASE, "provisional"),
        (_KNOBS.replace("none", "song") + _BASE, "justification"),
        (_KNOBS + _BASE + "[adapters]\ntranslate = 'x'", "adapters.translate"),
        ("[base", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_named_with_its_field(
    tmp_path: Path, settings: Settings, text: str, field: str
) -> None:
    folder = write(tmp_path / "wrong", text)
    with pytest.raises(ProfileError) as caught:
        load_profile(str(folder), settings)
    assert str(folder / "profile.toml") in str(caught.value)
    assert field in str(caught.value)


@pytest.mark.parametrize("name", ["", "..", "a b", "-a", "a" * 101])
def test_a_name_that_is_none(tmp_path: Path, settings: Settings, name: str) -> None:
    with pytest.raises(ProfileError):
        write_profile(
            name,
            settings,
            base=str(tmp_path),
            revision=None,
            adapters={},
            justification="none",
        )
    with pytest.raises(ProfileError):
        load_profile(name, settings)


def test_a_written_profile_reads_back(tmp_path: Path, settings: Settings) -> None:
    model, adapter = tmp_path / 'mod"el\\', tmp_path / "ünï"
    model.mkdir()
    adapter.mkdir()
    written = write_profile(
        "mine",
        settings,
        base=str(model),
        revision=None,
        adapters={Role.FILTER: adapter},
        justification="prose",
    )
    assert load_profile("mine", settings) == written
    assert written.base == FolderBase(model)
    assert written.adapters == {Role.FILTER: adapter}
    assert written.max_grade_tokens == 256
    assert written.provisional
    assert profile_names(settings) == sorted([*SHIPPED, "mine"])


@pytest.mark.parametrize(
    ("name", "base", "revision", "message"),
    [
        ("smollm2-135m", ".", None, "already"),
        ("mine", "org/model", None, "--revision COMMIT"),
        ("mine", "org/model", "main", "base.hub.revision"),
        ("mine", ".", _COMMIT, "is a folder"),
        ("mine", "./not-there", None, "no folder"),
        ("mine", "model", _COMMIT, "no folder"),
    ],
)
def test_a_profile_that_cannot_be_written_leaves_nothing(
    settings: Settings, name: str, base: str, revision: str | None, message: str
) -> None:
    with pytest.raises(ProfileError, match=message):
        write_profile(
            name, settings, base=base, revision=revision, adapters={}, justification="none"
        )
    assert profile_names(settings) == SHIPPED
    write_profile(
        "mine",
        settings,
        base="org/model",
        revision=_COMMIT,
        adapters={},
        justification="none",
    )
