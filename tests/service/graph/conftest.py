"""The servers are shared with other packages' tests."""

from tests.service.conftest import NEO4J, Server

__all__ = ["NEO4J", "Server"]
