"""The application behind the page: what is asked for by address, and what answers it."""

import functools
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from raravis.errors import InputError
from raravis.review.answers import ByteCache, Fields, json_answer, media_answer, whole_number
from raravis.review.desk import Desk, Wanted
from raravis.review.errors import ReviewError, StaleError
from raravis.review.exporting import EXPORTS, Export, export
from raravis.review.items import ReviewItems
from raravis.review.media import VIEWS, View
from raravis.review.pictures import COLOURS, Colours
from raravis.review.retraining import Retrainer, Retraining
from raravis.review.security import Guard, Secrets

__all__ = ["create_app"]

Endpoint: TypeAlias = Callable[[Request], Response | Awaitable[Response]]

_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_PICTURES_BYTES = 96 << 20
_SOUNDS_BYTES = 64 << 20
_FIRST_CARDS = 4


def create_app(
    desk: Desk,
    *,
    secrets: Secrets,
    hosts: Iterable[str],
    reviewer: str = "reviewer",
    retrain: Retrainer | None = None,
) -> ASGIApp:
    """Return the application, guarded.

    Parameters
    ----------
    desk : Desk
    secrets : Secrets
    hosts : iterable of str
        Names with port under which a browser may ask.
    reviewer : str
        Who is taken to sit at the page until the page says otherwise.
    retrain : Retrainer, optional
    """
    made = _Application(desk, secrets=secrets, reviewer=reviewer, retrain=retrain)
    made.warm()
    app = Starlette(
        routes=[
            Route("/", made.page),
            Route("/static/{name}", made.static),
            Route("/api/state", made.state),
            Route("/api/cards", made.cards),
            Route("/api/group", made.group),
            Route("/api/examples", made.examples),
            Route("/api/decide", made.decide, methods=["POST"]),
            Route("/api/undo", made.undo, methods=["POST"]),
            Route("/api/retrain", made.retrain, methods=["POST"]),
            Route("/picture/{id}", made.picture),
            Route("/sound/{id}", made.sound),
            Route("/export/{name}", made.exported),
        ],
        exception_handlers={
            StaleError: _stale,
            InputError: _refused,
            ClientDisconnect: _gone,
        },
    )
    return Guard(app, secrets=secrets, hosts=hosts)


def _stale(_request: Request, error: Exception) -> Response:
    return json_answer({"error": str(error)}, 409)


def _refused(_request: Request, error: Exception) -> Response:
    return json_answer({"error": str(error)}, 400)


def _gone(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("That is too much at once.\n", 413)


@functools.cache
def _static_files() -> Mapping[str, tuple[bytes, str]]:
    """Read the files of the page once: a request names one of these, or nothing."""
    folder = files("raravis.review") / "static"
    found = {}
    for file in folder.iterdir():
        kind = _KINDS.get(file.name[file.name.rfind(".") :])
        if kind is not None:
            found[file.name] = (file.read_bytes(), kind)
    return found


@functools.cache
def _template() -> Any:
    import jinja2

    source = (files("raravis.review") / "templates" / "page.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(source)


class _Application:
    def __init__(
        self, desk: Desk, *, secrets: Secrets, reviewer: str, retrain: Retrainer | None
    ) -> None:
        self._desk = desk
        self._secrets = secrets
        self._reviewer = reviewer
        self._retraining = Retraining(desk, retrain)
        self._pictures = ByteCache(_PICTURES_BYTES)
        self._sounds = ByteCache(_SOUNDS_BYTES)

    def warm(self) -> None:
        """Make the page once, so that whoever opens it does not wait; the rest is made aside."""
        self._rendered()
        threading.Thread(target=self._warm_media, daemon=True).start()

    def _warm_media(self) -> None:
        stage = self._desk.stage
        for position in stage.queue("novel").order[:1].tolist():
            for colours in COLOURS:
                self._picture(stage.items, position, "context", colours)
        _ = stage.examples

    # ------------------------------------------------------------------ the page

    def page(self, _request: Request) -> Response:
        body = self._rendered()
        return Response(body, 200, {"cache-control": "no-store"}, "text/html; charset=utf-8")

    def _rendered(self) -> bytes:
        start = {
            "write_token": self._secrets.write_token,
            "state": self._state(self._reviewer, others=True),
            "first": self._desk.cards(self._reviewer, Wanted("novel", n=_FIRST_CARDS)),
        }
        scripts = sorted(name for name in _static_files() if name.endswith(".js"))
        text: str = _template().render(
            title=self._desk.stage.items.title, start=start, scripts=scripts
        )
        return text.encode("utf-8", "replace")

    def static(self, request: Request) -> Response:
        found = _static_files().get(request.path_params["name"])
        if found is None:
            return PlainTextResponse("There is no such file.\n", 404)
        return Response(found[0], 200, {"cache-control": "no-cache"}, found[1])

    # ------------------------------------------------------------------ calls

    def state(self, request: Request) -> Response:
        params = request.query_params
        others = params.get("others", "1") == "1"
        return json_answer(self._state(self._who(params.get("reviewer")), others=others))

    def _state(self, reviewer: str, *, others: bool) -> dict[str, Any]:
        found = self._desk.state(reviewer, others=others)
        return {**found, "retraining": self._retraining.status()}

    def _who(self, given: str | None) -> str:
        return given or self._reviewer

    def cards(self, request: Request) -> Response:
        params = request.query_params
        wanted = Wanted(
            queue=params.get("queue", "novel"),
            start=max(0, whole_number(params, "start", 0)),
            step=-1 if params.get("step") == "-1" else 1,
            n=whole_number(params, "n", 8),
            every=params.get("every") == "1",
            call=whole_number(params, "call", 0) if "call" in params else None,
        )
        others = params.get("others", "1") == "1"
        self._desk.refresh()
        who = self._who(params.get("reviewer"))
        return json_answer(self._desk.cards(who, wanted, others=others))

    def group(self, request: Request) -> Response:
        return json_answer(self._desk.group(request.query_params.get("name", "")))

    def examples(self, request: Request) -> Response:
        params = request.query_params
        run = params.get("run", "")
        return json_answer(self._desk.examples(run, whole_number(params, "id", -1)))

    # ------------------------------------------------------------------ decisions

    async def decide(self, request: Request) -> Response:
        fields = Fields.read(await request.body())
        kind = fields.text("kind")
        act = await run_in_threadpool(
            self._desk.decide,
            ticket=fields.text("ticket"),
            reviewer=fields.text("reviewer"),
            run=fields.text("run"),
            queue=fields.text("queue", ""),
            kind=kind,  # type: ignore[arg-type]  # Decision refuses what is no kind
            positions=fields.numbers("calls"),
            class_name=fields.optional_text("class"),
            note=fields.text("note", ""),
        )
        return await self._after(fields, act)

    async def undo(self, request: Request) -> Response:
        fields = Fields.read(await request.body())
        act = await run_in_threadpool(
            self._desk.undo,
            ticket=fields.text("ticket"),
            reviewer=fields.text("reviewer"),
            undoes=fields.number("undoes"),
        )
        return await self._after(fields, act)

    async def _after(self, fields: Fields, act: int) -> Response:
        others = fields.text("others", "1") == "1"
        state = await run_in_threadpool(self._state, fields.text("reviewer"), others=others)
        return json_answer({"act": act, "state": state})

    async def retrain(self, request: Request) -> Response:
        await request.body()
        return json_answer({"started": self._retraining.start()})

    # ------------------------------------------------------------------ to see and to hear

    def picture(self, request: Request) -> Response:
        position, view, run = self._place(request)
        colours: Colours = _one_of(COLOURS, "colours", request.query_params.get("colours", "dark"))
        made = self._picture(self._desk.stage_of(run).items, position, view, colours)
        if made is None:
            return PlainTextResponse("There is no picture of this call.\n", 404)
        return media_answer(made, "image/png", None)

    def _picture(
        self, items: ReviewItems, position: int, view: View, colours: Colours
    ) -> bytes | None:
        key = (items.run, position, view, colours)
        return self._pictures.get(key, lambda: items.media.picture(position, view, colours))

    def sound(self, request: Request) -> Response:
        position, view, run = self._place(request)
        media = self._desk.stage_of(run).items.media
        made = self._sounds.get((run, position, view), lambda: media.sound(position, view))
        if made is None:
            return PlainTextResponse("There is no sound of this call.\n", 404)
        return media_answer(made, "audio/wav", request.headers.get("range"))

    def _place(self, request: Request) -> tuple[int, View, str]:
        position = whole_number(request.path_params, "id", -1)
        run = request.query_params.get("run", "")
        if not 0 <= position < len(self._desk.stage_of(run).items.calls):
            raise ReviewError(f"there is no call {position}; ask for one that the page shows.")
        view: View = _one_of(VIEWS, "view", request.query_params.get("view", "context"))
        return position, view, run

    # ------------------------------------------------------------------ export

    def exported(self, request: Request) -> Response:
        name: Export = _one_of(EXPORTS, "name", request.path_params["name"])
        self._desk.refresh()
        content, kind = export(self._desk, name)
        headers = {
            "cache-control": "no-store",
            "content-disposition": f'attachment; filename="{name}"',
        }
        return Response(content, 200, headers, kind)


def _one_of(choices: Iterable[Any], name: str, given: str) -> Any:
    if given not in choices:
        accepted = ", ".join(map(str, choices))
        raise ReviewError(f"{name} is {given[:40]!r}; pass one of {accepted}.")
    return given
