"""The numbers of the service, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from prometheus_client import REGISTRY
from prometheus_client.exposition import choose_encoder

from service.access import Role
from service.api.authorization import requires
from service.api.dependencies import BackendDep

router = APIRouter()


@router.get("/metrics", include_in_schema=False, dependencies=[requires(Role.AUDIT)])
def get_metrics(request: Request, backend: BackendDep) -> Response:
    """All numbers, in the form that the header `Accept` asks for."""
    backend.measure()
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(REGISTRY), headers={"Content-Type": media_type})
