from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.access import ANONYMOUS, LOCAL, ApiKey, Caller, Role
from service.access.loopback import is_loopback
from service.errors import ForbiddenError


def caller(*roles: Role, exams: frozenset[str] | None = None) -> Caller:
    now = datetime.now(UTC)
    key = ApiKey("ste_1", "lms", frozenset(roles), exams, created_at=now, expires_at=now)
    return Caller.with_key(key)


@pytest.mark.parametrize("role", Role)
def test_a_role_does_for_itself_and_admin_for_every_one(role: Role) -> None:
    caller(role).require_role([role])
    caller(Role.ADMIN).require_role([role])
    LOCAL.require_role([role])


def test_one_of_several_roles_is_enough() -> None:
    caller(Role.READ, Role.GRADE).require_role([Role.AUDIT, Role.READ])


def test_a_missing_role_is_named_with_those_that_are_there() -> None:
    with pytest.raises(ForbiddenError, match=r"grade or audit; ste_1 has read"):
        caller(Role.READ).require_role([Role.GRADE, Role.AUDIT])


def test_a_key_reaches_its_exams_and_no_other() -> None:
    scoped = caller(Role.ADMIN, exams=frozenset({"Tides"}))
    scoped.require_exam("Tides")
    for other in ("tides", "Tides ", "Tides/1", "*", ""):
        assert not scoped.reaches(other)
        with pytest.raises(ForbiddenError, match="does not reach"):
            scoped.require_exam(other)


def test_a_key_without_exams_reaches_all_and_nobody_none() -> None:
    assert caller(Role.READ).reaches("anything")
    assert LOCAL.reaches("anything")
    assert not ANONYMOUS.reaches("anything")
    with pytest.raises(ForbiddenError):
        ANONYMOUS.require_role(Role)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "::1"])
def test_a_host_that_is_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "0.0.0.0", "::", "192.0.2.1", "127.0.0.1.example.org", "localhost.example.org"]
)
def test_a_host_that_may_be_another(host: str) -> None:
    assert not is_loopback(host)
