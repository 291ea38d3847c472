"""Students' names at the edge: what comes in under an id is kept under a pseudonym."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from service.api.backend import Backend
from service.settings import Settings
from tests.service.api.conftest import grade_request
from tests.service.api.test_batches import create, fetch, lines, record, wait_for

STUDENT = "kim.of.the.first.row"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    key = SecretStr("0123456789abcdef" * 2)
    return Settings(home=tmp_path, graph="none", pseudonym_key=key)


def test_no_file_holds_the_id_of_a_student(
    client: TestClient, backend: Backend, settings: Settings, tmp_path: Path
) -> None:
    request = grade_request()
    request["answer"]["student_id"] = STUDENT
    assert client.post("/grade", json=request).status_code == 200
    batch_id = create(client, lines(record(2, student_id=STUDENT)))
    wait_for(client, batch_id)
    pseudonym = settings.pseudonyms.of(STUDENT)
    assert [line["student_id"] for line in fetch(client, batch_id)] == [pseudonym]
    assert len(backend.ledger.records_of_student(pseudonym)) == 2 * 4
    for path in tmp_path.iterdir():
        if path.is_file():
            assert STUDENT.encode() not in path.read_bytes(), path
