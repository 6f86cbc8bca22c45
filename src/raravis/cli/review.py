"""``raravis review``: a page on which to listen, decide, and let the model learn."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption, print_json, reporting
from raravis.cli._study import StudyArgument, WorkersOption

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
    from raravis.review.serving import require_extra

    with reporting(debug=debug):
        require_extra()
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
    from raravis.review import ReviewItems, serve
    from raravis.review.learning import study_retrainer
    from raravis.study import Study, StudyResults

    study = Study.open(folder)

    def started(url: str) -> None:
        _tell(folder, url, study.decisions_path, *told)
        if shown:
            webbrowser.open(url)

    n_entries = serve(
        ReviewItems.from_study(StudyResults.load(study)),
        study.decisions_path,
        reviewer=name,
        port=port,
        retrain=study_retrainer(str(study.folder), workers=workers),
        started=started,
    )
    if not any(told):
        typer.echo(f"Stopped. {study.decisions_path} holds {n_entries:,} entries.")


def _tell(folder: Path, url: str, decisions: Path, as_json: bool, quiet: bool) -> None:
    if as_json:
        from raravis.review import DecisionLog

        with DecisionLog(decisions) as log:
            n_entries = len(log)
        print_json({"command": "review", "study": str(folder), "url": url, "decisions": n_entries})
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
