"""The page on this machine: a port, an address with a token, and a server until it is stopped."""

import socket
from collections.abc import Callable
from contextlib import closing

from starlette.types import ASGIApp

from raravis.review.errors import ReviewError

__all__ = ["DEFAULT_PORT", "LOCAL", "address", "hosts_of", "listen", "make_server"]

LOCAL = "127.0.0.1"
DEFAULT_PORT = 8714
_TRIES = 20


def listen(host: str = LOCAL, port: int | None = None) -> socket.socket:
    """Take a port: the one that is named, or the first free one from the usual one on.

    The same study gets the same port again as a rule, so that a page that is still open finds the
    server when it is started anew.
    """
    if port is not None and not 0 <= port <= 65535:
        raise ReviewError(f"the port is {port}; pass a number from 1 to 65535.")
    wanted = range(DEFAULT_PORT, DEFAULT_PORT + _TRIES) if port is None else (port,)
    for number in wanted:
        found = _bound(host, number)
        if found is not None:
            return found
    what = f"port {port} is" if port is not None else f"ports {wanted[0]} to {wanted[-1]} are"
    raise ReviewError(f"{what} taken on {host}; end what uses it, or name another with --port.")


def _bound(host: str, port: int) -> socket.socket | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        # Two servers may both be bound to a port that was left lately; only one can listen.
        found.listen(128)
    except OSError:
        found.close()
        return None
    return found


def hosts_of(host: str, port: int) -> tuple[str, ...]:
    """Return the names that a browser may use for the server."""
    names = {host, LOCAL, "localhost"} if host == LOCAL else {host}
    return tuple(sorted(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names))


def address(host: str, port: int, token: str) -> str:
    """Return the address to open."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/?token={token}"


def make_server(app: ASGIApp, *, started: Callable[[], object] | None = None) -> "Server":
    """Return a server for an application."""
    return Server(app, started)


class Server:
    """Serves an application on a socket until it is told to stop.

    Parameters
    ----------
    app : ASGI application
    started : callable, optional
        Called once the server answers.
    """

    def __init__(self, app: ASGIApp, started: Callable[[], object] | None = None) -> None:
        import uvicorn

        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=2,
            limit_concurrency=200,
            ws="none",
        )
        self._server = uvicorn.Server(config)
        self._started = started

    def run(self, listening: socket.socket) -> None:
        """Serve until stopped, by `stop` or by Ctrl-C, which raises KeyboardInterrupt."""
        with closing(listening):
            if self._started is not None:
                # The socket listens already: whoever connects now is answered in a moment.
                self._started()
            self._server.run(sockets=[listening])

    def stop(self) -> None:
        """Let the server end soon."""
        self._server.should_exit = True
