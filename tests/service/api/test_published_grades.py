"""An answer's record says which of its grades counts, and who decided it."""

from __future__ import annotations

from starlette.testclient import TestClient

from service.api.backend import Backend
from tests.service.api.conftest import grade_request


def test_an_answer_shows_its_grade_of_record(client: TestClient, backend: Backend) -> None:
    graded = client.post("/grade", json=grade_request()).json()
    assert client.get("/answers/a1/judgements").json()["published_grades"] == []
    [run] = backend.ledger.latest_runs(1)
    plan = backend.ledger.publication_plan(run.run_id)
    made = backend.ledger.publish(plan, by="Prof. Ebb", reason="end of term")
    answer = client.get("/answers/a1/judgements").json()
    [published] = answer["published_grades"]
    assert published["judgement_id"] == graded["judgements"]["filtered"]["judgement_id"]
    assert published["predicted_score"] == graded["final_score"]
    assert (published["published_by"], published["reason"]) == ("Prof. Ebb", "end of term")
    assert (published["run_id"], published["exam_id"]) == (
        made.run_id,
        answer["judgements"][0]["exam_id"],
    )
    assert client.get("/answers/a1/judgements?exam_id=another").status_code == 404
