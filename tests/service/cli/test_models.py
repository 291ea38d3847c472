from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.models import models_app
from service.errors import FetchError, MissingWeightsError, ProfileError, TermsError
from service.settings import Settings

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEADYEVAL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "home"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(models_app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_list_says_what_is_here(tiny_profile_dir: Path) -> None:
    run("add", "mine", "--base", str(tiny_profile_dir / "base"))
    rows = {line.split()[1]: line for line in run("list").splitlines() if "│" in line}
    assert "here" in rows["mine"]
    assert "missing" in rows["mistral-7b"]
    assert "grading" in rows["mistral-7b"]
    assert "smollm2-135m *" in rows["smollm2-135m"]
    assert "trying" in rows["smollm2-135m"]


def test_a_profile_is_added_fetched_and_checked(tiny_profile_dir: Path) -> None:
    added = run(
        *("add", "mine", "--base", str(tiny_profile_dir / "base"), "--justification", "none"),
        *("--filter-adapter", str(tiny_profile_dir / "filter")),
    )
    assert "next: steadyeval models fetch mine" in added
    assert "already here" in run("fetch", "mine")
    assert "is intact" in run("check", "mine")


def test_fetch_names_a_missing_adapter(tiny_profile_dir: Path, tmp_path: Path) -> None:
    empty = tmp_path / "adapter"
    empty.mkdir()
    base = str(tiny_profile_dir / "base")
    run("add", "mine", "--base", base, "--filter-adapter", str(empty))
    assert "the filter adapter is missing; copy a PEFT adapter there" in run("fetch", "mine")


def terms_profile(folder: Path) -> str:
    """A profile whose base comes under terms, from a hub that is not there."""
    folder.mkdir()
    (folder / "profile.toml").write_text(
        "justification = 'none'\nmax_grade_tokens = 8\nprovisional = true\n"
        f"[base.hub]\nrepo = 'org/model'\nrevision = '{_COMMIT}'\n"
        "[base.terms]\ntitle = 'Tiny Terms'\nurl = 'https://x.org/terms'\nnotice = 'Mind them'\n",
        encoding="utf-8",
    )
    return str(folder)


def test_a_script_says_that_it_accepts_the_terms(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    profile = terms_profile(tmp_path / "tiny")
    with pytest.raises(TermsError, match=r"https://x\.org/terms .* --accept-terms"):
        run("fetch", profile)
    assert not home.exists()
    with pytest.raises(FetchError, match="org/model"):
        run("fetch", profile, "--accept-terms")
    with pytest.raises(FetchError, match="org/model"):
        run("fetch", profile)


@pytest.mark.parametrize(("answer", "accepted"), [("y", True), ("n", False), ("", False)])
def test_the_terms_are_shown_and_asked_for_at_a_terminal(
    home: Path, tmp_path: Path, answer: str, accepted: bool
) -> None:
    terminal, beside = pty.openpty()
    with os.fdopen(terminal, "w") as keyboard:
        process = subprocess.Popen(
            [sys.executable, "-c", "from service.cli import main; main()", "models", "fetch"],
            stdin=beside,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={
                **os.environ,
                "STEADYEVAL_PROFILE": terms_profile(tmp_path / "tiny"),
                "HF_ENDPOINT": "http://127.0.0.1:9",
            },
        )
        os.close(beside)
        keyboard.write(f"{answer}\n")
        keyboard.flush()
        said = process.communicate()[0]
    for shown in ("Mind them", "https://x.org/terms", "Do you accept the Tiny Terms?"):
        assert shown in said
    assert process.returncode == 1
    assert ("cannot get org/model" in said) == accepted
    assert ("--accept-terms" in said) == (not accepted)
    assert len(list(home.glob("models/*.terms.json"))) == accepted


def test_a_folder_is_taken_for_a_profile(tiny_profile_dir: Path, tiny_settings: Settings) -> None:
    assert tiny_settings.profile == str(tiny_profile_dir)
    assert "is intact" in run("check", str(tiny_profile_dir))


def test_errors_reach_the_root_command(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProfileError):
        run("fetch", "unknown")
    with pytest.raises(MissingWeightsError, match="models fetch smollm2-135m"):
        run("check")
    run("add", "mine", "--base", "org/model", "--revision", _COMMIT)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(FetchError, match="org/model"):
        run("fetch", "mine")
