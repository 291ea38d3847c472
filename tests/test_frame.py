"""The frame: packaging, make targets, documentation of settings, containers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copytree
from typing import Any
from zipfile import ZipFile

import pytest
import yaml

from filter_training.attacks import PAPER_ATTACKS
from service.engine.base import Role
from service.model_store import locate_adapters
from service.profile import HubBase, load_profile
from service.resources import models_dir
from service.settings import Settings

ROOT = Path(__file__).parents[1]
SECRETS = {"STEADYEVAL_GRAPH_PASSWORD_FILE", "STEADYEVAL_ENGINE_API_KEY_FILE"}
SETTINGS = {f"STEADYEVAL_{name.upper()}": field for name, field in Settings.model_fields.items()}
TEXT_SUFFIXES = {".py", ".md", ".toml", ".yml", ".yaml", ".cypher", ".json", ".jsonl", ".sql", ""}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_settings_are_documented_in_the_words_of_their_definition() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]*\| (.*) \|$", read("docs/settings.md"), re.M))
    assert rows == {name: field.description for name, field in SETTINGS.items()}


def test_settings_table_says_the_defaults() -> None:
    table = read("docs/settings.md")
    for name, field in SETTINGS.items():
        if isinstance(field.default, bool):
            assert f"| `{name}` | `{str(field.default).lower()}` |" in table
        elif isinstance(field.default, str | int):
            assert f"| `{name}` | `{field.default}` |" in table


@pytest.mark.parametrize("name", ["README.md", "Dockerfile", "docker-compose.yml", "SECURITY.md"])
def test_every_setting_that_is_named_exists(name: str) -> None:
    named = set(re.findall(r"STEADYEVAL_[A-Z][A-Z_]*[A-Z]", read(name)))
    assert named <= SETTINGS.keys() | SECRETS


def test_make_help_lists_the_targets() -> None:
    helped = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for target in ("help", "setup", "demo", "serve", "test", "lint", "bench"):
        assert re.search(rf"^  make {target} +\S", helped, re.M), helped


def test_make_setup_says_which_python_is_needed() -> None:
    refused = subprocess.run(
        ["make", "setup", "PYTHON=false", "VENV=no-such-venv"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert refused.returncode != 0
    assert "Python 3.11 or newer" in refused.stderr
    assert not (ROOT / "no-such-venv").exists()


def test_torch_is_pinned_once() -> None:
    pins = [
        (path.name, line)
        for path in tracked_files()
        if path.suffix in {".toml", ".txt", ".yml", ".yaml"}
        or path.name in {"Makefile", "Dockerfile"}
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\btorch\s*==", line)
    ]
    assert [name for name, _ in pins] == ["pyproject.toml"]


def test_wheel_has_packages_and_data(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    for folder in ("models", "neo4j", "examples"):
        for path in tracked_files():
            if path.is_relative_to(ROOT / folder):
                assert f"service/data/{path.relative_to(ROOT).as_posix()}" in names
    for package in ("service", "filter_training", "evaluation"):
        assert f"{package}/__init__.py" in names
    assert not {name for name in names if name.startswith(("tests/", "neo4j/", "benchmarks/"))}


def run_cli(*arguments: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "STEADYEVAL" not in name}
    if home is not None:
        environment["STEADYEVAL_HOME"] = str(home)
    return subprocess.run(
        [sys.executable, "-c", "from service.cli import main; main()", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )


def test_help_lists_the_commands_and_loads_nothing_heavy() -> None:
    program = (
        "import sys; from service.cli.app import app\n"
        "try: app(['--help'])\n"
        "finally: print(sorted({'torch', 'transformers', 'fastapi', 'neo4j'} & set(sys.modules)))"
    )
    helped = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for command in ("demo", "serve", "grade", "filter", "models", "graph", "train", "version"):
        assert re.search(rf"\b{command}\b", helped), helped
    assert helped.splitlines()[-1] == "[]"


def test_version_is_that_of_the_distribution() -> None:
    declared = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert run_cli("version").stdout.strip() == declared


def test_bad_input_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    exam = tmp_path / "exam.jsonl"
    exam.write_text("not json\n", encoding="utf-8")
    refused = run_cli("grade", str(exam), "--out", str(tmp_path / "out.jsonl"), home=tmp_path)
    assert refused.returncode == 2
    assert "line 1" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_missing_weights_are_one_message_and_exit_code_1(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    refused = run_cli("filter", "examples/exam.jsonl", "--out", str(out), home=tmp_path)
    assert refused.returncode == 1
    assert "steadyeval models fetch" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not out.exists()


def test_results_are_never_replaced_by_accident(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious\n", encoding="utf-8")
    refused = run_cli("grade", "examples/exam.jsonl", "--out", str(out), home=tmp_path)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert out.read_text(encoding="utf-8") == "precious\n"


def test_compose_listens_on_this_machine_only() -> None:
    services = yaml.safe_load(read("docker-compose.yml"))["services"]
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_compose_and_image_agree() -> None:
    services = yaml.safe_load(read("docker-compose.yml"))["services"]
    image = read("Dockerfile")
    (port,) = services["service"]["ports"]
    assert f"EXPOSE {port.rsplit(':', 1)[1]}\n" in image
    home = re.search(r"STEADYEVAL_HOME=(\S+)", image)
    assert home
    assert services["service"]["volumes"] == [f"service:{home[1]}"]
    for name in ("service", "service-gpu"):
        Settings(
            **{
                variable.removeprefix("STEADYEVAL_").lower(): value
                for variable, value in services[name]["environment"].items()
            }
        )


def test_compose_vllm_serves_what_the_service_asks_for(tmp_path: Path) -> None:
    services = yaml.safe_load(read("docker-compose.yml"))["services"]
    for name in ("vllm", "service-gpu"):
        assert "./models:/models:ro" in services[name]["volumes"]
    copytree(models_dir(), tmp_path / "models")
    environment = services["service-gpu"]["environment"]
    folder = environment["STEADYEVAL_PROFILE"].replace("/models", str(tmp_path / "models"))
    profile = load_profile(folder, Settings())
    adapter = profile.adapters[Role.FILTER]
    adapter.mkdir(exist_ok=True)
    for weights in (b"trained", b"trained again"):
        (adapter / "adapter_config.json").write_text("{}", encoding="utf-8")
        (adapter / "adapter_model.safetensors").write_bytes(weights)
        served = vllm_arguments(services["vllm"], tmp_path)
        name = f"{profile.name}-filter-{locate_adapters(profile)[Role.FILTER].sha256[:12]}"
        assert isinstance(profile.base, HubBase)
        assert served[:2] == ["serve", profile.base.repo]
        assert f"--revision={profile.base.revision}" in served
        assert f"--lora-modules={name}={adapter}" in served
        assert {"--enable-lora", "--enable-prefix-caching"} <= set(served)


def vllm_arguments(service: dict[str, Any], home: Path) -> list[str]:
    """What the service would give to vLLM if `home` were the root of its container."""
    command = home / "vllm"
    command.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    (script,) = service["command"]
    script = script.replace("$$", "$").replace("cd /models", f"cd {home}/models")
    return subprocess.run(
        [*service["entrypoint"], script],
        env={"PATH": f"{home}:{os.environ['PATH']}"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout.splitlines()


def test_demo_exam_holds_attacked_twins_of_its_clean_answers() -> None:
    records = [json.loads(line) for line in read("examples/exam.jsonl").splitlines()]
    clean = {r["answer_id"]: r for r in records if r["attack_type"] == "clean"}
    attacked = [r for r in records if r["attack_type"] != "clean"]
    assert {r["attack_type"] for r in attacked} == PAPER_ATTACKS.keys()
    for record in attacked:
        twin, attack = clean[record["answer_id"]], record["attack_type"]
        text = f"{twin['student_answer']}\n{PAPER_ATTACKS[attack]}"
        assert record == twin | {"attack_type": attack, "student_answer": text}
    assert len({r["domain"] for r in records}) >= 2
    assert len({r["question_id"] for r in records}) >= 4
    assert len({r["student_id"] for r in records}) >= 5


def test_links_in_documents_lead_somewhere() -> None:
    for document in [path for path in tracked_files() if path.suffix == ".md"]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_front_page_links_every_document() -> None:
    page = read("README.md")
    for document in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{document.name})" in page


def test_nothing_points_outside_the_project() -> None:
    # Split, so that this file does not hold what it looks for.
    unwanted = re.compile("/" + r"work/|\b" + r"files\.pythonhosted|\bpypi\.(?:org|python)")
    for path in tracked_files():
        if path.suffix in TEXT_SUFFIXES:
            assert not unwanted.search(path.read_text(encoding="utf-8")), path
