"""Who may talk to the page's server: the browser that was given its address, and nobody else.

Other programs of the machine, other pages in the same browser and names that a stranger's server
resolves to this machine are what it is kept safe from.
"""

import hmac
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import IO
from urllib.parse import parse_qs, urlsplit

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from raravis.review.errors import ReviewError

__all__ = ["WRITE_HEADER", "Guard", "Secrets", "kept_token"]

WRITE_HEADER = "x-raravis-review"
MOST_BODY_BYTES = 1 << 18

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

_STRANGER = (
    "This page is for whoever started it. Open the address that raravis review printed, whole: it "
    "ends in ?token=...\n"
)


@dataclass(frozen=True, slots=True)
class Secrets:
    """What a browser has to know.

    Parameters
    ----------
    token : str
        Stands in the address once, then in a cookie that no script can read.
    port : int
        Cookies do not tell the ports of a machine apart, so the name of ours does.
    """

    token: str
    port: int

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"raravis_review_{self.port}"

    @property
    def write_token(self) -> str:
        """What the page sends with every write; a page of another origin cannot read it."""
        return hmac.digest(self.token.encode(), b"write", "sha256").hex()

    def knows(self, given: str) -> bool:
        """Whether a text is the token."""
        return hmac.compare_digest(given.encode(), self.token.encode())


def kept_token(path: Path) -> str:
    """Return the token of a study, made at its first review.

    It outlives the server, so that a page that is open goes on when the server is started again.
    Only the owner may read the file.
    """
    for _ in range(2):
        with suppress(FileNotFoundError):
            found = path.read_text(encoding="ascii", errors="replace").strip()
            if len(found) >= 32 and found.isalnum() and found.isascii():
                return found
            path.unlink()
        with suppress(FileExistsError), _created(path) as file:
            file.write(secrets.token_hex(32))
    raise ReviewError(f"{path} cannot be read or written; remove it and start again.")


def _created(path: Path) -> IO[str]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.fdopen(os.open(path, flags, 0o600), "w", encoding="ascii")
    except FileExistsError:
        raise
    except OSError as error:
        raise ReviewError(
            f"{path} cannot be written ({error.strerror}); see to its folder and your rights there."
        ) from error


class Guard:
    """Asks every request for what it must have before anything else sees it.

    Parameters
    ----------
    app : ASGI application
    secrets : Secrets
    hosts : iterable of str
        What the browser may call this server, with the port.
    """

    def __init__(self, app: ASGIApp, *, secrets: Secrets, hosts: Iterable[str]) -> None:
        self._app = app
        self._secrets = secrets
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_raw(_HEADERS)]
            await send(message)

        headers = _Headers(scope)
        answer = self._refusal(scope, headers)
        if answer is not None:
            await answer(scope, receive, send_guarded)
            return
        await self._app(scope, _limited(receive), send_guarded)

    def _refusal(self, scope: Scope, headers: "_Headers") -> Response | None:
        if headers["host"].lower() not in self._hosts:
            return PlainTextResponse("This server does not go by that name.\n", 421)
        site = headers["sec-fetch-site"]
        method = scope["method"]
        if site in ("cross-site", "same-site") and headers["sec-fetch-mode"] != "navigate":
            return PlainTextResponse("Other pages may not ask this server for anything.\n", 403)
        if method == "GET" and scope["path"] == "/":
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
            if given is not None:
                return self._welcome(given[0])
        if not self._secrets.knows(headers.cookie(self._secrets.cookie)):
            return PlainTextResponse(_STRANGER, 403)
        if method not in ("GET", "HEAD"):
            return self._write_refusal(headers)
        return None

    def _welcome(self, given: str) -> Response:
        """Put the token into a cookie, and take it off the address and out of the history."""
        if not self._secrets.knows(given):
            return PlainTextResponse(_STRANGER, 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            self._secrets.cookie,
            self._secrets.token,
            httponly=True,
            samesite="strict",
            max_age=30 * 24 * 3600,
        )
        return answer

    def _write_refusal(self, headers: "_Headers") -> Response | None:
        origin = urlsplit(headers["origin"])
        if origin.scheme not in ("http", "https") or origin.netloc.lower() != headers["host"]:
            return PlainTextResponse("Only the page itself may write.\n", 403)
        if not hmac.compare_digest(headers[WRITE_HEADER], self._secrets.write_token):
            return PlainTextResponse("The page is out of date; load it again.\n", 403)
        if headers["content-type"].partition(";")[0].strip() != "application/json":
            return PlainTextResponse("Send JSON.\n", 415)
        length = headers["content-length"]
        if not length.isdecimal():
            return PlainTextResponse("Say how long the body is.\n", 411)
        if len(length) > 9 or int(length) > MOST_BODY_BYTES:
            return PlainTextResponse("That is too much at once.\n", 413)
        return None


class _Headers:
    """The headers of a request; one that is not there, or there twice, is empty."""

    def __init__(self, scope: Scope) -> None:
        self._found: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            self._found.setdefault(name.decode("latin-1").lower(), []).append(
                value.decode("latin-1")
            )

    def __getitem__(self, name: str) -> str:
        values = self._found.get(name, [])
        # What is compared in constant time has to be ASCII.
        return values[0] if len(values) == 1 and values[0].isascii() else ""

    def cookie(self, name: str) -> str:
        try:
            jar = SimpleCookie(self["cookie"])
        except CookieError:
            return ""
        return jar[name].value if name in jar else ""


def _limited(receive: Receive) -> Receive:
    """Cut a body off that is longer than it may be, whatever its head says."""
    seen = 0

    async def receive_some() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= MOST_BODY_BYTES else {"type": "http.disconnect"}

    return receive_some


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
