"""What a route asks of its caller."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from service.access import Caller, Role

_SCHEME = HTTPBearer(
    scheme_name="ApiKey",
    bearerFormat="ste_…",
    description="A key of `steadyeval keys create`. One of the roles that a request lists is "
    "enough, and `admin` has them all. Where no key has been made, this machine needs none.",
    auto_error=False,
)


def _caller(request: Request) -> Caller:
    caller = request.state.caller
    assert isinstance(caller, Caller)
    return caller


CallerDep = Annotated[Caller, Depends(_caller)]


async def _authorize(
    needed: SecurityScopes,
    caller: CallerDep,
    _: Annotated[HTTPAuthorizationCredentials | None, Security(_SCHEME)],
) -> None:
    caller.require_role(Role(role) for role in needed.scopes)


def requires(*roles: Role) -> Any:
    """A dependency of a route: its caller has one of `roles`, or is an admin."""
    return Security(_authorize, scopes=list(roles))
