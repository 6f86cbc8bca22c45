"""A mirror on this machine, well-behaved or not, for tests of the downloader."""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from raravis.datasets._registry import RemoteFile


@dataclass
class Mirror:
    """An HTTP server of one file; its fields say how it behaves."""

    content: bytes
    status: int = 200
    ranges: bool = True
    declares_length: bool = True
    cuts: list[int] = field(default_factory=list)
    """Bytes after which the next answers break off; once used up, answers are whole."""
    range_start: int | None = None
    """Where a partial answer claims to start, if not where it was asked to."""
    redirect: str | None = None
    stall: threading.Event | None = None
    """Where set, an answer that breaks off waits for this first, the connection left open."""
    requests: list[str | None] = field(default_factory=list)
    """The Range header of every request so far."""
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers.get("Range")
        self.requests.append(asked)
        if self.redirect:
            handler.send_response(302)
            handler.send_header("Location", self.redirect)
            handler.end_headers()
        elif self.status != 200:
            handler.send_error(self.status)
        elif asked and self.ranges:
            self._send_rest(handler, int(re.fullmatch(r"bytes=(\d+)-", asked)[1]))
        else:
            handler.send_response(200)
            self._send_body(handler, self.content)

    def _send_rest(self, handler: BaseHTTPRequestHandler, start: int) -> None:
        if start >= len(self.content):
            handler.send_error(416)
            return
        handler.send_response(206)
        claimed = start if self.range_start is None else self.range_start
        last, total = len(self.content) - 1, len(self.content)
        handler.send_header("Content-Range", f"bytes {claimed}-{last}/{total}")
        self._send_body(handler, self.content[start:])

    def _send_body(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if self.declares_length:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        cut = self.cuts.pop(0) if self.cuts else None
        handler.wfile.write(body[:cut])
        if cut is not None and self.stall is not None:
            handler.wfile.flush()
            self.stall.wait(30)


@pytest.fixture
def serve() -> Iterator[Callable[..., Mirror]]:
    """Start mirrors; they stop when the test ends."""
    servers = []

    def start(content: bytes = b"", **behaviour: object) -> Mirror:
        mirror = Mirror(content, **behaviour)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.answer(self)

            def log_message(self, *args: object) -> None:
                """Keep quiet."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        mirror.url = f"http://127.0.0.1:{server.server_address[1]}/file"
        return mirror

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def remote() -> Callable[..., RemoteFile]:
    """Describe a file by the content that it should have and the mirrors that offer it."""

    def describe(content: bytes, *urls: str, path: str = "toys/file.bin") -> RemoteFile:
        return RemoteFile(path, (hashlib.sha256(content).hexdigest(),), urls)

    return describe


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty user cache, and no RARAVIS_DATA; returns the cache folder."""
    monkeypatch.delenv("RARAVIS_DATA", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr("raravis.datasets._fetch.user_cache", lambda: cache)
    return cache
