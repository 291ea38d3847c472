"""Whether the process lives, and whether it can grade."""

from __future__ import annotations

from http import HTTPStatus

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter

from service.api import problems
from service.api.backend import Backend
from service.api.dependencies import BackendDep
from service.api.protocol import Health, Readiness

router = APIRouter(tags=["health"])

_NOT_READY = problems.responses(HTTPStatus.SERVICE_UNAVAILABLE)


@router.get("/healthz")
async def get_health() -> Health:
    """The process answers, whether or not the model is loaded."""
    return Health()


# On a thread of its own: the event loop must not wait for the disk, nor a probe for the
# gradings that may fill the common thread pool.
@router.get("/readyz", responses=_NOT_READY)
async def get_readiness(backend: BackendDep) -> Readiness:
    """The model is loaded and its filter has passed the canary."""
    return await to_thread.run_sync(_readiness, backend, limiter=CapacityLimiter(1))


@router.post(
    "/readyz/check",
    responses=problems.responses(HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE),
)
def check_readiness(backend: BackendDep) -> Readiness:
    """Run the canary now: load what is not loaded, and let the filter clean a known attack.

    A service that is ready stays so where the model does not answer.
    """
    backend.check()
    return _readiness(backend)


def _readiness(backend: Backend) -> Readiness:
    backend.require_ready()
    return Readiness(profile=backend.settings.profile, graph=backend.graph_state())
