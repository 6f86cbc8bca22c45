"""What the steps of a study did, in words, and what to do next."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from raravis._checks import some

if TYPE_CHECKING:
    from raravis.study import Done, Study

__all__ = ["tell"]

_MOST_PROBLEMS = 8
_MOST_NAMES = 5

# What is sensible to do after a step.
_NEXT = {
    "init": "segment",
    "segment": "features",
    "features": "label",
    "label": "fit",
    "fit": "calibrate",
    "calibrate": "score",
    "score": "report",
}


def tell(study: "Study", steps: "Sequence[Done]") -> None:
    """Print a line for each step, what is wrong with which recording, and what to do next."""
    console = Console(highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for done in steps:
        table.add_row(done.verb, Text(_sentence(done)))
    console.print(table)
    _tell_problems(console, steps)
    _tell_next(console, study, steps[-1].verb)


def _tell_problems(console: Console, steps: "Sequence[Done]") -> None:
    problems: dict[str, str] = {}
    for done in steps:
        problems |= done.problems
    if not problems:
        return
    listed = list(problems.items())
    many = f"{len(listed)} recordings" if len(listed) > 1 else "1 recording"
    console.print(f"\n{many} could not be used:")
    for name, what in listed[:_MOST_PROBLEMS]:
        console.print(Text(f"  {name}: {what}"), soft_wrap=True)
    if len(listed) > _MOST_PROBLEMS:
        console.print(
            f"  and {len(listed) - _MOST_PROBLEMS} more, listed in results/recordings.csv"
        )


def _tell_next(console: Console, study: "Study", verb: str) -> None:
    folder = shlex.quote(str(study.folder))
    if verb in _NEXT:
        needs_table = _NEXT[verb] == "label" and not study.settings.labels
        table = " --labels species.csv" if needs_table else ""
        console.print(
            f"\nNext: raravis {_NEXT[verb]} {folder}{table}", soft_wrap=True, markup=False
        )
        return
    console.print(f"\nTables: {study.results_folder}", soft_wrap=True, markup=False)
    console.print(
        f"Report: {study.report_path}; open it in a browser:\n"
        f"{study.report_path.absolute().as_uri()}",
        soft_wrap=True,
        markup=False,
    )


def _sentence(done: "Done") -> str:
    text = _SENTENCES[done.verb](done.facts)
    return text if done.new else f"nothing to do: {text}"


def _init(facts: Mapping[str, Any]) -> str:
    return (
        f"{_count(facts['recordings'], 'recording')} in {facts['folder']}, {facts['usable']:,} of "
        f"them usable ({_hours(facts['hours'])})"
    )


def _segment(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts['segments']:,} sounds in {facts['usable']:,} of "
        f"{_count(facts['recordings'], 'recording')} ({_hours(facts['hours'])})"
    )


def _features(facts: Mapping[str, Any]) -> str:
    terms = f". {facts['terms']}" if facts["terms"] else ""
    return f"{facts['calls']:,} calls described{terms}"


def _label(facts: Mapping[str, Any]) -> str:
    unmatched = [*facts["unmatched"], *facts["ambiguous"]]
    strange = ""
    if unmatched:
        names = _count(len(unmatched), "name that fits", "names that fit")
        strange = f"; {names} no recording: {some(unmatched, limit=_MOST_NAMES)}"
    return (
        f"{len(facts['species'])} species in the lists of "
        f"{_count(facts['labelled'], 'recording')} ({facts['empty']:,} of them empty); "
        f"{_count(facts['unlabelled'], 'recording has', 'recordings have')} no list{strange}"
    )


def _fit(facts: Mapping[str, Any]) -> str:
    decided = f" and {facts['decisions']:,} decisions" if facts["decisions"] else ""
    rare = ""
    if facts["rare"]:
        names = some(facts["rare"], limit=_MOST_NAMES)
        rare = f". Listed for too few recordings to be told from other sounds: {names}"
    return (
        f"{facts['kind']} learned {len(facts['species'])} species from {facts['calls']:,} calls in "
        f"{facts['recordings']:,} recordings{decided}, in {facts['seconds']:.1f} s{rare}"
    )


def _calibrate(facts: Mapping[str, Any]) -> str:
    return _threshold(facts) + _control(facts)


def _threshold(facts: Mapping[str, Any]) -> str:
    if facts["promise"]:
        return f"novel above {facts['novelty']:.4g}: {facts['promise']}"
    if facts["reason"]:
        return f"the model's own threshold; none with a promise was found: {facts['reason']}"
    return "the model's own threshold (ask for one that promises something with --miss-rate)"


def _score(facts: Mapping[str, Any]) -> str:
    groups = len(facts["candidates"])
    found = (
        f", in {_count(groups, 'candidate new class', 'candidate new classes')}" if groups else ""
    )
    return (
        f"{facts['novel']:,} of {_count(facts['calls'], 'call')} are novel{found}{_control(facts)}"
    )


def _control(facts: Mapping[str, Any]) -> str:
    """Say what the random control sample implies, where somebody has decided on it."""
    found = facts.get("control")
    if found is None:
        return ""
    said = [
        f"{round(100 * share['hits'] / share['n'])}% ({round(100 * share['low'])} to "
        f"{round(100 * share['high'])}%) {what}"
        for what, share in (
            ("of what is called novel is of no known class (precision)", found["precision"]),
            ("of the calls of new classes are called novel (recall)", found["recall"]),
            ("of the labels are right", found["labels"]),
        )
        if share["n"]
    ]
    return "; ".join([f". By {found['n_decided']:,} random control calls", *said]).replace(
        ";", ":", 1
    )


def _report(facts: Mapping[str, Any]) -> str:
    return f"one page with pictures and sounds, {facts['megabytes']:.1f} MB"


_SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "init": _init,
    "segment": _segment,
    "features": _features,
    "label": _label,
    "fit": _fit,
    "calibrate": _calibrate,
    "score": _score,
    "report": _report,
}


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _hours(hours: float) -> str:
    return f"{hours:,.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"
