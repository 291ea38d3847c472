"""Whatever the OpenAPI document allows, and much that it does not, is answered as declared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as tried
from hypothesis import strategies as st
from requests import Request
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from service.access import Role
from service.api.app import create_app
from service.api.backend import Backend
from service.engine.base import Engine
from service.settings import Settings
from tests.service.api.conftest import LOCAL, wait_until_ready
from tests.service.api.keyed import key_of
from tests.service.api.scripted import borrowing

_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
_EXAMPLES = 6
"""Of each operation and way to make them."""


@pytest.fixture(scope="module")
def keyed(
    tiny_engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TestClient, dict[str, str]]]:
    tiny = borrowing(tiny_engine, "grade", "copy", "rewrite", "render", "fingerprint")
    settings = Settings(
        home=tmp_path_factory.mktemp("home"), graph="none", requests_per_minute=10**6
    )
    with pytest.MonkeyPatch.context() as patched:
        # A random filter filters nothing.
        patched.setattr("service.pipeline.check_canary", lambda _: None)
        backend = Backend(settings, lambda _: tiny)
        with TestClient(create_app(backend), base_url=LOCAL) as client:
            wait_until_ready(client)
            yield client, key_of(backend, Role.ADMIN)


def test_every_answer_is_as_declared_and_none_a_fault_of_ours(
    keyed: tuple[TestClient, dict[str, str]],
) -> None:
    client, key = keyed
    document = client.get("/openapi.json", headers=key).json()
    schema = schemathesis.openapi.from_dict(document)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= len(document["paths"])
    for operation in operations:
        _try(operation.as_strategy(), client, key)
        if operation.body or operation.query:  # any text is an id: no path is against the schema
            wrong = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
            _try(wrong, client, key)


def _try(
    cases: st.SearchStrategy[schemathesis.Case], client: TestClient, key: dict[str, str]
) -> None:
    @tried(
        max_examples=_EXAMPLES,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def conforms(case: schemathesis.Case) -> None:
        made = Request(**case.as_transport_kwargs(base_url=LOCAL, headers=key)).prepare()
        assert made.method is not None
        assert made.url is not None
        response = client.request(
            made.method, made.url, headers=dict(made.headers), content=made.body
        )
        case.validate_response(response, checks=_CHECKS)

    conforms()
