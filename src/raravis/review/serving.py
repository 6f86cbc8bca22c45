"""The page for whatever is under review, on this machine, until it is told to end."""

from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from raravis.errors import InputError
from raravis.review.decisions import DecisionLog
from raravis.review.items import ReviewItems

if TYPE_CHECKING:
    from raravis.review.retraining import Retrainer

__all__ = ["require_extra", "serve"]

_KEPT_AT = ".review-token"


def serve(
    items: ReviewItems,
    decisions: str | PathLike[str],
    *,
    reviewer: str = "reviewer",
    port: int | None = None,
    retrain: "Retrainer | None" = None,
    started: Callable[[str], object],
) -> int:
    """Serve the page until Ctrl-C, and return how many lines the log then has.

    Parameters
    ----------
    items : ReviewItems
        See `ReviewItems.from_study` and `ReviewItems.from_bags`.
    decisions : path
        The log of decisions, made if it is not there. The page's secret is kept beside it.
    reviewer : str
        Who decides, until the page says otherwise.
    port : int, optional
        By default the first that is free.
    retrain : Retrainer, optional
        See `raravis.review.learning.bags_retrainer`; without it the page does not offer to learn.
    started : callable
        Given the address once the page answers there, such as ``print`` or ``webbrowser.open``.
    """
    require_extra()
    from raravis.review.app import create_app
    from raravis.review.desk import Desk
    from raravis.review.security import Secrets, kept_token
    from raravis.review.server import LOCAL, address, hosts_of, listen, make_server

    with DecisionLog(decisions) as log:
        token = kept_token(Path(decisions).parent / _KEPT_AT)
        with listen(LOCAL, port) as listening:
            number = listening.getsockname()[1]
            app = create_app(
                Desk(items, log),
                secrets=Secrets(token, number),
                hosts=hosts_of(LOCAL, number),
                reviewer=reviewer,
                retrain=retrain,
            )
            url = address(LOCAL, number, token)
            server = make_server(app, started=lambda: started(url))
            # Ctrl-C is how a review ends: nothing went wrong.
            with suppress(KeyboardInterrupt):
                server.run(listening)
        return len(log)


def require_extra() -> None:
    """Refuse where what the page is served with is not installed."""
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the review page needs {', '.join(missing)}, which is not installed; give the command "
            "pip install 'raravis[review]'."
        )
