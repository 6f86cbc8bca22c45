"""A review served in a thread of the test, and requests as a browser or a stranger makes them."""

import http.client
import json
import socket
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from raravis.review import DecisionLog
from raravis.review.app import create_app
from raravis.review.desk import Desk
from raravis.review.items import ReviewItems
from raravis.review.security import WRITE_HEADER, Secrets
from raravis.review.server import LOCAL, address, hosts_of, listen, make_server

TOKEN = "0123456789abcdef" * 4


class Answer:
    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Served:
    """A server for some items, on a port of its own until the block ends."""

    def __init__(self, items: ReviewItems, log: Path, *, port: int = 0, **options: Any) -> None:
        self.log = DecisionLog(log)
        self.desk = Desk(items, self.log)
        self._listening = listen(LOCAL, port)
        self.port = self._listening.getsockname()[1]
        self.secrets = Secrets(TOKEN, self.port)
        app = create_app(
            self.desk,
            secrets=self.secrets,
            hosts=hosts_of(LOCAL, self.port),
            reviewer="Ada",
            **options,
        )
        self._server = make_server(app)
        self._thread = threading.Thread(target=self._server.run, args=(self._listening,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._server.stop()
            self._thread.join(15)
            assert not self._thread.is_alive()
            self.log.close()

    @property
    def url(self) -> str:
        return address(LOCAL, self.port, TOKEN)

    @property
    def host(self) -> str:
        return f"{LOCAL}:{self.port}"

    def cookie(self) -> dict[str, str]:
        return {"cookie": f"{self.secrets.cookie}={TOKEN}"}

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Ask without anything that is not given."""
        connection = http.client.HTTPConnection(LOCAL, self.port, timeout=20)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, **self.cookie(), **headers)

    def write_headers(self) -> dict[str, str]:
        return {
            **self.cookie(),
            "origin": f"http://{self.host}",
            "content-type": "application/json",
            WRITE_HEADER: self.secrets.write_token,
        }

    def post(self, path: str, content: Any) -> Answer:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.request("POST", path, body, **self.write_headers())

    def decide(self, ticket: str, calls: list[int], kind: str = "uncertain", **more: Any) -> Answer:
        said = {"ticket": ticket, "reviewer": "Ada", "kind": kind, "calls": calls, "run": "run-1"}
        return self.post("/api/decide", {**said, **more})

    def raw(self, content: bytes) -> bytes:
        """Send bytes as they are, and return what comes back until the server hangs up."""
        with socket.create_connection((LOCAL, self.port), timeout=10) as connection:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
        return b"".join(parts)


def wait_until(true: Any, *, seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)
