from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from service.resources import examples_dir, models_dir, neo4j_dir

_PROJECT = Path(__file__).parents[2]


def test_a_checkout_has_its_folders_beside_the_packages() -> None:
    assert models_dir() == _PROJECT / "models"
    assert neo4j_dir() == _PROJECT / "neo4j"
    assert examples_dir() == _PROJECT / "examples"


@pytest.mark.slow
def test_a_wheel_has_its_folders_inside(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*build, str(tmp_path), str(_PROJECT)], check=True)
    [wheel] = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    script = (
        "from service.profile import load_profile; from service.settings import Settings; "
        "from service.resources import *; print(load_profile('mistral-7b', Settings()).folder); "
        "print(neo4j_dir() / 'schema.cypher'); print(examples_dir() / 'exam.jsonl')"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert [Path(line).relative_to(installed).parts[:2] for line in printed] == [
        ("service", "data")
    ] * 3
    assert all(Path(line).exists() for line in printed)
