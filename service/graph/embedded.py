"""The embedded graph: one ArcadeDB server per home, a child process that speaks Bolt.

Its folder holds

- `server.json` (mode 0600): process, port and whether the server is to stay. The server process
  itself holds a lock on this file, so the lock says whether it lives, also after a crash;
- `password` (mode 0600): the password of the server's only user;
- `users`: locked by every command that uses the server; the last one out stops it;
- `lock`: held while a server is being started or stopped;
- `databases`, `config`, `log`: ArcadeDB's own.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from service.errors import GraphError, GraphUnreachableError
from service.graph.locks import exclusive, is_exclusive, open_private, shared, try_exclusive
from service.graph.store import GraphStore

_USER = "root"
_DATABASE = "steadyeval"
_READY_SECONDS = 300.0
_STOP_SECONDS = 20.0
_PAUSE_SECONDS = 0.1

# Beside the engine, its Cypher and Bolt, the wheel brings plug-ins that start by themselves when
# they are on the class path (an MCP endpoint, Postgres and Redis listeners).
_LEFT_OUT = ("mcp", "postgresw", "redisw", "graphql", "console", "integration", "python")

# Servers that this process started, until they have ended and been reaped.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class ServerState:
    """A server as its state file describes it; `stays` is true after `graph up`."""

    pid: int
    bolt_port: int
    stays: bool

    @property
    def uri(self) -> str:
        """Bolt address of the server."""
        return f"bolt://127.0.0.1:{self.bolt_port}"


class EmbeddedGraph:
    """The graph server of one folder."""

    def __init__(self, home: Path) -> None:
        self.home = home.absolute()
        self._lock = self.home / "lock"
        self._users = self.home / "users"
        self._state = self.home / "server.json"
        self._password = self.home / "password"
        self.log = self.home / "log" / "server.log"

    @contextmanager
    def open(self) -> Iterator[GraphStore]:
        """A store on this folder's server, which is started unless it runs.

        The last one to leave stops the server, unless `up` said that it stays.

        Raises:
            GraphError: the server cannot be started.
        """
        self._make_home()
        with shared(self._users) as users:
            with exclusive(self._lock):
                store = self._attach() or self._start()
            try:
                with store:
                    yield store
            finally:
                with exclusive(self._lock):
                    state = self.running()
                    if state and not state.stays and try_exclusive(users):
                        self._stop(state)

    def up(self) -> ServerState:
        """Start the server, unless it runs, and let it stay until `down`."""
        self._make_home()
        with exclusive(self._lock):
            with self._attach() or self._start() as store:
                store.apply_schema()
            state = self._read_state()
            state = ServerState(state.pid, state.bolt_port, stays=True)
            with open_private(self._state) as descriptor:
                _save(descriptor, state)
            return state

    def down(self) -> bool:
        """Stop the server, also under commands that use it; False if none ran."""
        self._make_home()
        with exclusive(self._lock):
            state = self.running()
            if state:
                self._stop(state)
            return state is not None

    def running(self) -> ServerState | None:
        """The server that runs now, if any."""
        return self._read_state() if is_exclusive(self._state) else None

    def _make_home(self) -> None:
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.log.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise GraphError(
                f"the embedded graph cannot use {self.home}: {error}; set STEADYEVAL_HOME"
            ) from error

    def _read_state(self) -> ServerState:
        try:
            return ServerState(**json.loads(self._state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise GraphError(
                f"a graph server runs in {self.home} but {self._state.name} does not describe "
                f"it ({error}); end that java process and try again"
            ) from error

    def _attach(self) -> GraphStore | None:
        state = self.running()
        if state is None:
            return None
        try:
            return self._connect(state)
        except GraphError:
            self._stop(state)
            return None

    def _start(self) -> GraphStore:
        wheel = _wheel()
        try:
            state = self._launch(wheel)
        except OSError as error:
            raise GraphError(f"the embedded graph cannot be started: {error}") from error
        try:
            return self._connect(state)
        except BaseException:
            self._stop(state)
            raise

    def _launch(self, wheel: Path) -> ServerState:
        password = self._make_password()
        port = _free_port()
        with exclusive(self._state) as alive, self.log.open("wb") as log:
            process = subprocess.Popen(
                self._command(wheel, port, password),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home,
                env=_environment(),
                pass_fds=(alive,),
                start_new_session=True,
            )
            _children[process.pid] = process
            state = ServerState(process.pid, port, stays=False)
            _save(alive, state)
        return state

    def _command(self, wheel: Path, bolt_port: int, password: Path) -> list[str]:
        jars = (
            str(jar)
            for jar in sorted((wheel / "jars").glob("*.jar"))
            if not jar.name.startswith(tuple(f"arcadedb-{name}-" for name in _LEFT_OUT))
        )
        options = {
            "server.rootPath": self.home,
            "server.databaseDirectory": self.home / "databases",
            "server.logsDirectory": self.home / "log",
            "server.rootPasswordPath": password,
            "server.defaultDatabases": f"{_DATABASE}[{_USER}]",
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": 0,
            "bolt.host": "127.0.0.1",
            "bolt.port": bolt_port,
            # Mode `production` stands for these three and also hides from the client why a
            # statement was refused, which whoever types a query needs to know.
            "server.mode": "development",
            "studio.enabled": "false",
            "opencypher.loadCsv.allowFileUrls": "false",
            "txWalFlush": 1,
        }
        return [
            str(wheel / "jre" / "bin" / "java"),
            "-Xmx1g",
            "-XX:+UseSerialGC",
            # The quick compiler alone: a start costs half the processor time.
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            *(f"-Darcadedb.{name}={value}" for name, value in options.items()),
            "-cp",
            os.pathsep.join(jars),
            "com.arcadedb.server.ArcadeDBServer",
        ]

    def _make_password(self) -> Path:
        if not self._password.exists():
            # The server asks for the password at its first start only and keeps its hash.
            (self.home / "config" / "server-users.jsonl").unlink(missing_ok=True)
            fresh = self._password.with_suffix(".new")
            with open_private(fresh) as descriptor:
                os.write(descriptor, secrets.token_urlsafe(32).encode())
            fresh.replace(self._password)
        return self._password

    def _connect(self, state: ServerState) -> GraphStore:
        """A store on a server that is running or still starting."""
        try:
            password = self._password.read_text(encoding="utf-8")
        except OSError as error:
            raise GraphError(f"the embedded graph's password is lost: {error}") from error
        deadline = time.monotonic() + _READY_SECONDS
        while True:
            try:
                return GraphStore.connect(state.uri, _USER, password, _DATABASE)
            except GraphError as error:
                reason = str(error)
            if self.running() is None or self._start_failed():
                raise GraphUnreachableError(
                    f"the embedded graph could not start; its own words are in {self.log}"
                )
            if time.monotonic() > deadline:
                raise GraphUnreachableError(
                    f"the embedded graph is not ready after {_READY_SECONDS:g} s: {reason}; "
                    f"see {self.log}"
                )
            time.sleep(_PAUSE_SECONDS)

    def _start_failed(self) -> bool:
        """True if the server gave up; its process stays all the same."""
        return b"com.arcadedb.server.ServerException" in self.log.read_bytes()

    def _stop(self, state: ServerState) -> None:
        for kind in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(state.pid, kind)
            except ProcessLookupError:
                break
            if self._ends_within(_STOP_SECONDS):
                break
        if child := _children.pop(state.pid, None):
            child.wait()

    def _ends_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_SECONDS)
        return True


def _save(descriptor: int, state: ServerState) -> None:
    content = json.dumps(asdict(state)).encode()
    os.pwrite(descriptor, content, 0)
    os.ftruncate(descriptor, len(content))


def _wheel() -> Path:
    spec = find_spec("arcadedb_embedded")
    if spec is None or not spec.submodule_search_locations:
        raise GraphError(
            "the embedded graph is not installed: pip install 'steadyeval[embedded]', "
            "or set STEADYEVAL_GRAPH to the Bolt address of a Neo4j server"
        )
    return Path(spec.submodule_search_locations[0])


def _environment() -> dict[str, str]:
    """Ours, without our secrets and without options meant for other Java programs."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("STEADYEVAL_")
        and name not in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
