"""``raravis review``: a page on which to listen, decide, and let the model learn."""

import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption, print_json, reporting
from raravis.cli._study import StudyArgument, WorkersOption
from raravis.errors import InputError

if TYPE_CHECKING:
    from socket import socket

    from starlette.types import ASGIApp

    from raravis.review import DecisionLog, ReviewItems
    from raravis.review.security import Secrets
    from raravis.review.server import Server

__all__ = ["review"]


def review(
    study: StudyArgument,
    *,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="REVIEWER", help="Who decides.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", help="By default the first free from 8714.", show_default=False
        ),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Only print the address; open no browser.")
    ] = False,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Open a page on which to listen to calls, and to decide what they are.

    The most novel calls come first, or candidate classes group by group, the most uncertain, the
    weakest of a class, or a random control sample. Decisions are kept in STUDY/decisions.sqlite, to
    which several people may add at once. The model learns from them on the page, or by raravis fit
    STUDY --with-decisions. Only this machine can reach the page. Ctrl-C ends it.

    Example: raravis review mystudy --name Ada
    """
    with reporting(debug=debug):
        _require_extra()
        _serve(study, name or _user(), port, workers, shown=not no_open, told=(as_json, quiet))


def _serve(
    folder: Path,
    name: str,
    port: int | None,
    workers: int | None,
    *,
    shown: bool,
    told: tuple[bool, bool],
) -> None:
    from raravis.review import DecisionLog, ReviewItems
    from raravis.review.security import Secrets, kept_token
    from raravis.review.server import LOCAL, address, listen, make_server
    from raravis.study import Study, StudyResults

    study = Study.open(folder)
    items = ReviewItems.from_study(StudyResults.load(study))
    with DecisionLog(study.decisions_path) as log:
        token = kept_token(study.folder / ".review-token")
        with listen(LOCAL, port) as listening:
            number = listening.getsockname()[1]
            app = _app(items, log, name, Secrets(token, number), workers, study.folder)
            url = address(LOCAL, number, token)

            def started() -> None:
                _tell(folder, url, log, *told)
                if shown:
                    webbrowser.open(url)

            _run(make_server(app, started=started), listening)
        if not any(told):
            typer.echo(f"Stopped. {study.decisions_path} holds {len(log):,} entries.")


def _app(
    items: "ReviewItems",
    log: "DecisionLog",
    name: str,
    secrets: "Secrets",
    workers: int | None,
    folder: Path,
) -> "ASGIApp":
    from raravis.review.app import create_app
    from raravis.review.desk import Desk
    from raravis.review.learning import study_retrainer
    from raravis.review.server import LOCAL, hosts_of

    return create_app(
        Desk(items, log),
        secrets=secrets,
        hosts=hosts_of(LOCAL, secrets.port),
        reviewer=name,
        retrain=study_retrainer(str(folder), workers=workers),
    )


def _run(server: "Server", listening: "socket") -> None:
    # Ctrl-C is how a review ends: nothing went wrong.
    with suppress(KeyboardInterrupt):
        server.run(listening)


def _tell(folder: Path, url: str, log: "DecisionLog", as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json({"command": "review", "study": str(folder), "url": url, "decisions": len(log)})
    elif quiet:
        typer.echo(url)
    else:
        typer.echo(f"The page is at\n{url}\nIt is for this machine only. Ctrl-C ends it.")


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()[:100].strip() or "reviewer"
    except (OSError, KeyError, ImportError):
        return "reviewer"  # a system without users


def _require_extra() -> None:
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the review page needs {', '.join(missing)}, which is not installed; give the command "
            "pip install 'raravis[review]'."
        )
