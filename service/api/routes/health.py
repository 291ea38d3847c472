"""Whether the process lives, and whether it can grade."""

from __future__ import annotations

from http import HTTPStatus

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter

from service.access import Caller, Role
from service.api import problems
from service.api.authentication import LIVENESS, READINESS
from service.api.authorization import CallerDep, requires
from service.api.backend import Backend
from service.api.dependencies import BackendDep
from service.api.json_body import JsonRoute
from service.api.protocol import Health, Readiness
from service.errors import NotReadyError

router = APIRouter(tags=["health"], route_class=JsonRoute)

_NOT_READY = problems.responses(HTTPStatus.SERVICE_UNAVAILABLE)


@router.get(LIVENESS)
async def get_health() -> Health:
    """The process answers, whether or not the model is loaded."""
    return Health()


# On a thread of its own: the event loop must not wait for the disk, nor a probe for the
# gradings that may fill the common thread pool.
@router.get(READINESS, responses=_NOT_READY)
async def get_readiness(backend: BackendDep, caller: CallerDep) -> Readiness:
    """The model is loaded, its filter has passed the canary, and the ledger can be written.

    Without a key, where keys are in use, neither the graph nor the reason is told.
    """
    return await to_thread.run_sync(_readiness, backend, caller, limiter=CapacityLimiter(1))


@router.post(
    "/readyz/check",
    responses=problems.access_responses()
    | problems.responses(
        HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT
    ),
    dependencies=[requires(Role.AUDIT)],
)
def check_readiness(backend: BackendDep, caller: CallerDep) -> Readiness:
    """Run the canary now: load what is not loaded, and let the filter clean a known attack.

    A service that is ready stays so where the model does not answer.
    """
    backend.check()
    return _readiness(backend, caller)


def _readiness(backend: Backend, caller: Caller) -> Readiness:
    known = bool(caller.roles)
    try:
        backend.require_ready()
        backend.require_recording()
    except NotReadyError:
        if known:
            raise
        raise NotReadyError("not ready; ask with an API key for the reason") from None
    return Readiness(
        profile=backend.settings.profile, graph=backend.graph_state() if known else None
    )
