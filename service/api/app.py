"""The FastAPI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from service.api import examples, problems
from service.api.authentication import Authentication
from service.api.backend import Backend
from service.api.body_limit import BodyLimit
from service.api.routes import batches, docs, grading, health, metrics, records
from service.api.security_headers import SecurityHeaders
from service.observability import tracing
from service.observability.middleware import Observed

_EXAMPLES = {
    "GradeBody": examples.GRADE_REQUEST,
    "GradeResponse": examples.GRADE_RESPONSE,
    "FilterResponse": examples.FILTER_RESPONSE,
    "ExamBody": examples.REGISTER_EXAM,
}


def create_app(backend: Backend) -> FastAPI:
    """The API in front of `backend`, which starts and closes with it."""
    app = _App(
        title="SteadyEval",
        summary="Grades short exam answers so that no answer can talk its way to a grade",
        version=version("steadyeval"),
        lifespan=_lifespan,
        generate_unique_id_function=_operation_id,
        docs_url=None,
        redoc_url=None,
        # A redirect would repeat the header Host that a caller sent.
        redirect_slashes=False,
    )
    app.state.backend = backend
    settings = backend.settings
    # The one that is added last sees a request first.
    app.add_middleware(
        BodyLimit,
        max_bytes=settings.max_request_bytes,
        by_path={batches.PATH: settings.max_batch_bytes},
    )
    app.add_middleware(Authentication, keys=backend.keys, per_minute=settings.requests_per_minute)
    problems.add_handlers(app)
    for module in (grading, batches, records, health, metrics, docs):
        app.include_router(module.router)
    return app


class _App(FastAPI):
    def build_middleware_stack(self) -> ASGIApp:
        """All middleware; outermost, around the answer to an unexpected error, what all get."""
        return Observed(SecurityHeaders(super().build_middleware_stack()))

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, with examples and the schema of problem documents."""
        document = super().openapi()
        schemas = document["components"]["schemas"]
        schemas.update(problems.schemas())
        # Here and not at the models, since FastAPI drops every null from what stands there.
        for model, example in _EXAMPLES.items():
            schemas[model]["examples"] = [example]
        return document


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    backend: Backend = app.state.backend
    tracing.start(app.version)
    backend.start()
    yield
    await run_in_threadpool(backend.close)
    await run_in_threadpool(tracing.stop)


def _operation_id(route: APIRoute) -> str:
    return route.name
