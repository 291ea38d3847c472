"""`make soak`: kill the service again and again, then load it; every promise must hold."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.soak.soak import soak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="how often the service is killed")
    parser.add_argument("--seconds", type=float, default=20, help="how long it is loaded")
    parser.add_argument("--clients", type=int, default=64, help="how many load it at once")
    parser.add_argument("--seed", type=int, default=0, help="of all that is left to chance")
    given = parser.parse_args()
    with TemporaryDirectory() as home:
        soak(
            Path(home),
            rounds=given.rounds,
            seconds=given.seconds,
            clients=given.clients,
            seed=given.seed,
            tell=lambda text: print(text, file=sys.stderr, flush=True),  # noqa: T201
        )


if __name__ == "__main__":
    main()
