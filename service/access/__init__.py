"""Who may do what: API keys, their roles and exams, and how much each may ask."""

from service.access.caller import ANONYMOUS, LOCAL, Caller
from service.access.keys import ApiKey, IssuedKey, KeyLimits, Role
from service.access.rate_limit import RateLimit
from service.access.store import KeyStore

__all__ = [
    "ANONYMOUS",
    "LOCAL",
    "ApiKey",
    "Caller",
    "IssuedKey",
    "KeyLimits",
    "KeyStore",
    "RateLimit",
    "Role",
]
