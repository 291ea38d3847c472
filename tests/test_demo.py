"""The demo and the front page's examples, as a newcomer runs them: on the embedded model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.graph import open_graph
from service.settings import Settings

ROOT = Path(__file__).parents[1]
ANSWERS = len((ROOT / "examples" / "exam.jsonl").read_text(encoding="utf-8").splitlines())

pytestmark = pytest.mark.slow

JUDGED = """
MATCH (run:Run)-[:INCLUDES]->(:Judgement)-[:JUDGES]->(submission:Submission)
WHERE run.started_at >= $since AND submission.exam_id IN ['ML_intro', 'WEB_basics']
WITH DISTINCT submission
RETURN submission.exam_id AS exam_id, submission.answer_id AS answer_id,
       submission.attack_type AS attack_type,
       COUNT { (submission)<-[:JUDGES]-(:Judgement) } AS judgements,
       COUNT { (submission)<-[:JUDGES]-(:Judgement {stage: 'filtered'})
               -[:BASED_ON]->(:Judgement {stage: 'filter'})-[:JUDGES]->(submission) } AS based_on
ORDER BY exam_id, answer_id, attack_type
"""


@pytest.fixture(params=["embedded", "neo4j"])
def settings(request: pytest.FixtureRequest, tmp_path: Path, embedded_models: Path) -> Settings:
    (tmp_path / "models").symlink_to(embedded_models, target_is_directory=True)
    if request.param == "embedded":
        return Settings(home=tmp_path, graph="embedded")
    names = ("URI", "USER", "PASSWORD", "DATABASE")
    values = [os.environ.get(f"STEADYEVAL_TEST_NEO4J_{name}") for name in names]
    if None in values:
        pytest.skip("STEADYEVAL_TEST_NEO4J_URI, _USER, _PASSWORD and _DATABASE name no Neo4j")
    uri, user, password, database = values
    return Settings(
        home=tmp_path,
        graph=uri,
        graph_user=user,
        graph_password=password,
        graph_database=database,
    )


def run(*command: str, settings: Settings) -> str:
    password = settings.graph_password
    environment = {name: value for name, value in os.environ.items() if "STEADYEVAL" not in name}
    environment |= {
        "COLUMNS": "160",
        "STEADYEVAL_HOME": str(settings.home),
        "STEADYEVAL_GRAPH": settings.graph,
        "STEADYEVAL_GRAPH_USER": settings.graph_user,
        "STEADYEVAL_GRAPH_PASSWORD": password.get_secret_value() if password else "",
        "STEADYEVAL_GRAPH_DATABASE": settings.graph_database,
    }
    ran = subprocess.run(
        [sys.executable, "-c", *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_demo_keeps_three_judgements_of_each_answer_also_after_a_second_run(
    settings: Settings,
) -> None:
    since = datetime.now(UTC)
    for _ in range(2):
        shown = run("from service.cli import main; main()", "demo", settings=settings)
        verdict = re.search(r"(\d+) of (\d+) attacked answers got the grade", shown)
        assert verdict, shown
        assert verdict[1] == verdict[2]
        assert "MATCH (answer:Answer" in shown
        assert "final_score" in shown
        with open_graph(settings) as graph:
            rows = graph.query(JUDGED, {"since": since}).rows
        assert len(rows) == ANSWERS
        assert {row[3:] for row in rows} == {(3, 1)}


def test_front_page_example_runs_as_it_stands(tmp_path: Path, embedded_models: Path) -> None:
    (tmp_path / "models").symlink_to(embedded_models, target_is_directory=True)
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.S)
    assert run(example, settings=Settings(home=tmp_path, graph="none")).strip()
