"""The OpenAPI document is what a client can be made from."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel
from starlette.testclient import TestClient

from service.api import examples, problems
from service.api.protocol import ExamBody, FilterResponse, GradeBody, GradeResponse


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    loaded = client.get("/openapi.json").json()
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize(
    ("model", "example"),
    [
        (GradeBody, examples.GRADE_REQUEST),
        (GradeResponse, examples.GRADE_RESPONSE),
        (FilterResponse, examples.FILTER_RESPONSE),
        (ExamBody, examples.REGISTER_EXAM),
    ],
)
def test_an_example_is_valid_and_complete(
    document: dict[str, Any], model: type[BaseModel], example: dict[str, Any]
) -> None:
    assert model.model_validate(example).model_dump(mode="json", exclude_unset=True)
    assert document["components"]["schemas"][model.__name__]["examples"] == [example]


def test_example_response_is_the_answer_to_the_example_request() -> None:
    sent = examples.GRADE_REQUEST["answer"]
    for response in (examples.GRADE_RESPONSE, examples.FILTER_RESPONSE):
        assert response["answer_id"] == sent["answer_id"]
        [span] = response["removed_spans"]
        assert sent["student_answer"][span["start"] : span["end"]] == span["text"]


def test_operation_ids_are_stable(document: dict[str, Any]) -> None:
    ids = {
        f"{method.upper()} {path}": operation["operationId"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert ids == {
        "POST /grade": "grade",
        "POST /filter": "filter_answer",
        "PUT /exams/{exam_id}": "register_exam",
        "GET /exams/{exam_id}": "get_exam",
        "POST /batches": "create_batch",
        "GET /batches/{batch_id}": "get_batch",
        "GET /batches/{batch_id}/events": "stream_batch",
        "GET /batches/{batch_id}/results": "get_batch_results",
        "POST /batches/{batch_id}/cancel": "cancel_batch",
        "POST /batches/{batch_id}/resume": "resume_batch",
        "GET /judgements/{judgement_id}": "get_judgement",
        "GET /answers/{answer_id}/judgements": "list_answer_judgements",
        "GET /healthz": "get_health",
        "GET /readyz": "get_readiness",
        "POST /readyz/check": "check_readiness",
    }


def test_every_error_is_declared_as_a_problem_document(document: dict[str, Any]) -> None:
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    schema = response["content"][problems.MEDIA_TYPE]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Problem"}
    assert "HTTPValidationError" not in document["components"]["schemas"]
    assert "pointer" in document["components"]["schemas"]["Fault"]["properties"]


def test_page_is_served(client: TestClient) -> None:
    assert "SteadyEval" in client.get("/docs").text
