"""The FastAPI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from service.api import examples, problems
from service.api.backend import Backend
from service.api.body_limit import BodyLimit
from service.api.routes import grading, health, records

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
    )
    app.state.backend = backend
    app.add_middleware(BodyLimit, max_bytes=backend.settings.max_request_bytes)
    problems.add_handlers(app)
    for module in (grading, records, health):
        app.include_router(module.router)
    return app


class _App(FastAPI):
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
    backend.start()
    yield
    await run_in_threadpool(backend.close)


def _operation_id(route: APIRoute) -> str:
    return route.name
