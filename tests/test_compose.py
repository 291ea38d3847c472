"""What docker-compose.yml and Dockerfile promise; no engine is needed to check it."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import Settings

ROOT = Path(__file__).parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SECRET_SETTINGS = {
    f"STEADYEVAL_{name.upper()}_FILE"
    for name, field in Settings.model_fields.items()
    if "SecretStr" in str(field.annotation)
}
PLAIN_SETTINGS = {f"STEADYEVAL_{name.upper()}" for name in Settings.model_fields} - {
    name.removesuffix("_FILE") for name in SECRET_SETTINGS
}
# Keys of the Compose specification that this file may use; a misspelt one is none of them.
SERVICE_KEYS = {
    "build",
    "cap_drop",
    "command",
    "depends_on",
    "deploy",
    "entrypoint",
    "environment",
    "healthcheck",
    "image",
    "init",
    "ports",
    "profiles",
    "read_only",
    "restart",
    "secrets",
    "security_opt",
    "shm_size",
    "stop_grace_period",
    "tmpfs",
    "user",
    "volumes",
}
HEALTHCHECK_KEYS = {"test", "interval", "timeout", "retries", "start_period", "disable"}

each_service = pytest.mark.parametrize("service", SERVICES.values(), ids=list(SERVICES))


def test_keys_are_those_of_the_specification() -> None:
    assert {key for key in COMPOSE if not key.startswith("x-")} == {
        "services",
        "volumes",
        "secrets",
    }
    for service in SERVICES.values():
        assert service.keys() <= SERVICE_KEYS
        assert service["healthcheck"].keys() <= HEALTHCHECK_KEYS
        assert service["deploy"].keys() == {"resources"}
        assert service["deploy"]["resources"].keys() <= {"limits", "reservations"}


@each_service
def test_a_container_can_do_little(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    user, group = map(int, service["user"].split(":"))
    assert user > 0
    assert group > 0
    assert any(path.split(":")[0] == "/tmp" for path in service["tmpfs"])
    limits = service["deploy"]["resources"]["limits"]
    assert re.fullmatch(r"\d+G", limits["memory"])
    assert limits["pids"] > 0


@each_service
def test_a_service_is_watched_and_started_again_unless_it_ends(service: dict[str, Any]) -> None:
    check = service["healthcheck"]
    if service["restart"] == "no":
        assert check == {"disable": True}
    else:
        assert service["restart"] == "unless-stopped"
        assert check["test"][0] == "CMD"
        for duration in ("interval", "timeout"):
            assert re.fullmatch(r"\d+[sm]", check[duration])
        assert check["retries"] > 0


def test_dependencies_can_come_true() -> None:
    for service in SERVICES.values():
        for name, dependency in service.get("depends_on", {}).items():
            wanted = SERVICES[name]
            ends = wanted["restart"] == "no"
            assert dependency["condition"] == (
                "service_completed_successfully" if ends else "service_healthy"
            )
            assert set(wanted.get("profiles", [])) <= set(service.get("profiles", []))


def test_versions_are_pinned() -> None:
    bases = set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.M))
    images = {service["image"] for service in SERVICES.values()}
    for image in bases | images:
        assert re.search(r":v?\d+\.\d+\.\d+(-[\w.-]+)?$", image), image


def test_nothing_comes_from_the_environment_of_compose() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert "$" not in text.replace("$$", "")
    assert all("env_file" not in service for service in SERVICES.values())


@each_service
def test_secrets_are_files_that_the_service_may_read(service: dict[str, Any]) -> None:
    granted = {f"/run/secrets/{name}" for name in service.get("secrets", [])}
    named = set()
    for variable, value in service.get("environment", {}).items():
        if re.search(r"PASSWORD|TOKEN|KEY|AUTH|SECRET", variable):
            assert variable.endswith(("_FILE", "_PATH")), variable
            named.add(value)
    assert named == granted
    assert set(service.get("secrets", [])) <= COMPOSE["secrets"].keys()


@each_service
def test_named_settings_exist_and_are_valid(service: dict[str, Any]) -> None:
    environment = {
        name: value
        for name, value in service.get("environment", {}).items()
        if name.startswith("STEADYEVAL_")
    }
    assert environment.keys() <= PLAIN_SETTINGS | SECRET_SETTINGS
    Settings(
        **{
            name.removeprefix("STEADYEVAL_").lower(): value
            for name, value in environment.items()
            if name in PLAIN_SETTINGS
        }
    )


def test_volumes_are_declared_and_used() -> None:
    used = {
        volume.split(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", [])
        if not volume.startswith("./")
    }
    assert used == COMPOSE["volumes"].keys()
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            assert not volume.startswith("./") or volume.endswith(":ro")


def test_the_user_of_a_service_owns_its_volume_in_the_image() -> None:
    for stage in re.split(r"^FROM ", DOCKERFILE, flags=re.M)[1:]:
        for volume in re.findall(r"^VOLUME (\S+)", stage, re.M):
            assert "useradd --create-home --uid 10001 steadyeval" in stage
            assert f"install --directory --owner=steadyeval --mode=700 {volume}" in stage
            assert "\nUSER steadyeval\n" in stage


@pytest.fixture
def made_secrets(tmp_path: Path) -> Path:
    make_secrets(tmp_path).check_returncode()
    return tmp_path / "secrets"


def make_secrets(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", "--file", ROOT / "Makefile", "secrets"],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
        text=True,
    )


def test_made_secrets_are_those_of_the_compose_file_and_agree(made_secrets: Path) -> None:
    declared = {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()}
    assert {path.name for path in made_secrets.iterdir()} == declared
    assert stat.S_IMODE(made_secrets.stat().st_mode) == 0o700
    for path in made_secrets.iterdir():
        # A container's user is not this one.
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
    password = (made_secrets / "graph-password").read_text()
    assert re.fullmatch(r"[0-9a-f]{48}", password)
    assert (made_secrets / "neo4j-auth").read_text() == f"neo4j/{password}"


def test_made_secrets_are_never_replaced(made_secrets: Path) -> None:
    before = {path: path.read_bytes() for path in made_secrets.iterdir()}
    assert make_secrets(made_secrets.parent).returncode != 0
    assert {path: path.read_bytes() for path in made_secrets.iterdir()} == before


def test_secrets_get_neither_into_git_nor_into_the_image() -> None:
    assert "/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    assert "secrets" in (ROOT / ".dockerignore").read_text().splitlines()
