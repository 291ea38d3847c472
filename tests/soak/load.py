"""Many clients at once, a tenth of whose requests are no good."""

from __future__ import annotations

import json
import random
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

import httpx

from tests.soak.answers import batch_body, grade_body
from tests.soak.promises import Promises
from tests.soak.server import Server

_BAD = 0.1
_SAMPLE_S = 0.5
_TOO_LONG = 5_000_000
_RETRY_S = 0.05
_BATCH = 100


@dataclass(frozen=True)
class Sample:
    """What the service takes at a moment."""

    threads: float
    files: float
    memory_mib: float


@dataclass
class Load:
    """What came of it.

    Attributes:
        seconds: how long each good request took.
        statuses: how often which status came; 0 for a request that was broken off.
        samples: of the service, in time.
    """

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def p99(self) -> float:
        """Seconds that 99 of 100 good requests stayed below."""
        return sorted(self.seconds)[int(len(self.seconds) * 0.99)]

    def growth(self) -> Sample:
        """How much more the service took in the last third than at most in the middle one."""
        third = len(self.samples) // 3
        middle, last = self.samples[third : 2 * third], self.samples[2 * third :]
        return Sample(
            _most(last, "threads") - _most(middle, "threads"),
            _most(last, "files") - _most(middle, "files"),
            _most(last, "memory_mib") - _most(middle, "memory_mib"),
        )


def load(server: Server, promises: Promises, clients: int, seconds: float, seed: int) -> Load:
    """Let `clients` ask for `seconds`.

    Args:
        server: a service that runs.
        promises: notes what it acknowledges.
        clients: how many ask at once.
        seconds: for how long.
        seed: of what they ask.
    """
    result = Load()
    ends = time.monotonic() + seconds
    with ThreadPoolExecutor(clients) as pool:
        asking = [
            pool.submit(_ask, server, promises, result, ends, random.Random(seed + number))
            for number in range(clients)
        ]
        promises.send_batch(server, batch_body(_BATCH))
        while time.monotonic() < ends:
            result.samples.append(_sample(server.pid))
            time.sleep(_SAMPLE_S)
    for each in asking:
        each.result()
    return result


def _ask(
    server: Server, promises: Promises, result: Load, ends: float, chance: random.Random
) -> None:
    with httpx.Client(base_url=server.address, timeout=300) as client:
        while time.monotonic() < ends:
            if chance.random() < _BAD:
                status = _ask_badly(server, client, chance.randrange(5))
                with result.lock:
                    result.statuses[status] += 1
                continue
            began = time.monotonic()
            response = client.post("/grade", json=grade_body())
            with result.lock:
                result.seconds.append(time.monotonic() - began)
                result.statuses[response.status_code] += 1
            if response.status_code == httpx.codes.OK:
                promises.graded(response.json())
            else:
                time.sleep(_RETRY_S)


def _ask_badly(server: Server, client: httpx.Client, kind: int) -> int:
    """The status that came; 0 where the request was broken off."""
    body = json.dumps(grade_body())
    match kind:
        case 0:
            return client.post(
                "/grade", content=b'{"question": ', headers={"Content-Type": "application/json"}
            ).status_code
        case 1:
            return client.post("/grade", json={"answer": {"answer_id": ["?"]}}).status_code
        case 2:
            return _send_too_much(client)
        case 3:
            _break_off(server, body[:50], len(body))
        case _:
            _break_off(server, body, len(body))
    return 0


def _send_too_much(client: httpx.Client) -> int:
    try:
        return client.post("/grade", content=b"x" * _TOO_LONG).status_code
    except httpx.TransportError:
        # The service hung up before it had read all of it.
        return 0


def _break_off(server: Server, sent: str, length: int) -> None:
    """Send a request for POST /grade, whole or a part of it, and hang up without listening."""
    address = urlsplit(server.address)
    head = (
        f"POST /grade HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    )
    with socket.create_connection((str(address.hostname), int(address.port or 0))) as connection:
        connection.sendall(f"{head}{sent}".encode())


def _sample(pid: int) -> Sample:
    process = Path("/proc") / str(pid)
    status = dict(
        line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line
    )
    return Sample(
        threads=int(status["Threads"]),
        files=sum(1 for _ in (process / "fd").iterdir()),
        memory_mib=int(status["VmRSS"].split()[0]) / 1024,
    )


def _most(samples: list[Sample], name: str) -> float:
    return max(float(getattr(sample, name)) for sample in samples)
