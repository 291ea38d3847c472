"""Both parts of the soak, one after the other, in one home."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from service.graph.embedded import EmbeddedGraph
from tests.soak.kills import kill_rounds
from tests.soak.load import load
from tests.soak.server import Server, soak_settings

_MOST_MORE_MIB = 64
_MOST_MORE_THREADS = 8


def soak(
    home: Path,
    *,
    rounds: int,
    seconds: float,
    clients: int,
    seed: int,
    tell: Callable[[str], None],
) -> None:
    """Kill a service `rounds` times, then load it; fails where a promise does not hold.

    Args:
        home: an empty folder.
        rounds: how often it is killed.
        seconds: how long it is loaded.
        clients: how many load it at once.
        seed: of all that is left to chance.
        tell: is told how it goes.
    """
    server = Server(soak_settings(home))
    try:
        promises = kill_rounds(server, rounds, seed, tell)
        done = load(server, promises, clients, seconds, seed)
        promises.check(server)
        grown = done.growth()
        tell(
            f"load: {len(done.seconds)} grades asked by {clients} clients, p99 {done.p99():.2f} s; "
            f"statuses {dict(sorted(done.statuses.items()))}; most {done.samples[-1]}; "
            f"growth {grown}"
        )
        assert not [status for status in done.statuses if status >= 500], done.statuses
        assert grown.threads <= _MOST_MORE_THREADS
        assert grown.files <= clients
        assert grown.memory_mib <= _MOST_MORE_MIB
        server.stop()
    finally:
        server.kill_if_alive()
        EmbeddedGraph(server.settings.graph_dir).down()
