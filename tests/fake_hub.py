"""A hub on this machine that serves one model repository at one commit."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPO = "org/tiny"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serve_hub(files: Mapping[str, bytes]) -> Iterator[str]:
    """Serve `files` until the block ends; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _answer(self, *, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            resolve = f"/{REPO}/resolve/{COMMIT}/"
            if path == f"/api/models/{REPO}/revision/{COMMIT}":
                siblings = [{"rfilename": name} for name in files]
                self._json({"id": REPO, "sha": COMMIT, "siblings": siblings})
            elif path == f"/api/models/{REPO}/tree/{COMMIT}":
                self._json(
                    [
                        {"type": "file", "path": name, "size": len(data), "oid": _etag(data)}
                        for name, data in files.items()
                    ]
                )
            elif path.startswith(resolve) and (name := path.removeprefix(resolve)) in files:
                self._send(200, files[name] if with_body else b"", len(files[name]), name)
            else:
                self._send(404, b"{}", 2, None)

        def _json(self, value: object) -> None:
            body = json.dumps(value).encode()
            self._send(200, body, len(body), None)

        def _send(self, status: int, body: bytes, length: int, name: str | None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            if name is not None:
                self.send_header("ETag", f'"{_etag(files[name])}"')
                self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()
