"""The service killed at random moments of grading and of batches."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx

from service.graph.embedded import EmbeddedGraph
from tests.soak.answers import batch_body, grade_body
from tests.soak.promises import Promises
from tests.soak.server import Server

_CLIENTS = 4
_LONGEST_LIFE_S = 4.0
_MOST_ANSWERS = 40


def kill_rounds(
    server: Server, rounds: int, seed: int, tell: Callable[[str], None] = lambda _: None
) -> Promises:
    """Kill the service `rounds` times, and check after each that every promise is kept.

    Args:
        server: a service that does not run; when this returns, it does.
        rounds: how often it is killed.
        seed: of the moments and of what is done meanwhile.
        tell: is told how it goes.
    """
    chance = random.Random(seed)
    promises = Promises()
    server.start()
    for number in range(1, rounds + 1):
        began = time.monotonic()
        _work_until_killed(server, promises, chance)
        if chance.random() < 0.3:
            EmbeddedGraph(server.settings.graph_dir).down()
        server.start()
        promises.check(server)
        tell(
            f"round {number}: {len(promises.answers)} answers acknowledged, each once in ledger "
            f"and graph ({time.monotonic() - began:.1f} s)"
        )
    return promises


def _work_until_killed(server: Server, promises: Promises, chance: random.Random) -> None:
    ended = Event()
    body = batch_body(chance.randint(1, _MOST_ANSWERS))
    with ThreadPoolExecutor(_CLIENTS + 1) as pool:
        asking = [pool.submit(_grade, server, promises, ended) for _ in range(_CLIENTS)]
        asking.append(pool.submit(promises.send_batch, server, body))
        time.sleep(chance.uniform(0, _LONGEST_LIFE_S))
        server.kill()
        ended.set()
    for each in asking:
        each.result()


def _grade(server: Server, promises: Promises, ended: Event) -> None:
    with httpx.Client(base_url=server.address, timeout=120) as client:
        while not ended.is_set():
            try:
                response = client.post("/grade", json=grade_body())
            except httpx.HTTPError:
                return
            assert response.status_code == 200, response.text
            promises.graded(response.json())
