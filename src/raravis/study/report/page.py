"""The page of the report, from its lead to its settings."""

import math
import platform
from html import escape
from importlib import metadata

import numpy as np

from raravis._html import document as html
from raravis._html.roc import Line, roc_figure
from raravis._version import __version__
from raravis.audio import SegmentRecipe, feature_terms
from raravis.metrics import Interval
from raravis.progress import Progress, ProgressCallback
from raravis.study.report.cards import Frame, card, thumb
from raravis.study.report.overview import histogram, overview, problems_table
from raravis.study.report.style import STYLE
from raravis.study.results import CandidateClass, StudyResults
from raravis.study.settings import Settings
from raravis.study.truth import Verdict

__all__ = ["render_report"]

_N_NOVEL, _MOST_A_RECORDING = 13, 3
_N_CANDIDATES, _N_MEMBERS = 8, 8
_MOST_CLASSES = 24


def render_report(
    results: StudyResults, verdict: Verdict | None = None, progress: ProgressCallback | None = None
) -> str:
    """Return the report as text; it refers to nothing outside itself."""
    draw = _Studio(results, progress)
    sections = [
        _figures(results, verdict),
        _novel_calls(draw),
        _groups(draw),
        overview(results),
        _surest(draw),
        _spread(results),
        _judgement(verdict),
        problems_table(results),
        _facts(results),
    ]
    return html.document(
        title=_title(results),
        kicker="raravis report",
        lead=_lead(results),
        body="\n".join(filter(None, sections)),
        footer="Made by raravis. Nothing on this page was loaded from elsewhere.",
        style=STYLE,
    )


class _Studio:
    """Makes cards, and tells how many of them are made."""

    def __init__(self, results: StudyResults, progress: ProgressCallback | None) -> None:
        self.results = results
        self.frame = Frame.of(results)
        self.novel = _most_novel(results)
        self.surest = _surest_calls(results)
        self.groups = results.candidates[:_N_CANDIDATES]
        self._progress = progress
        self._done = 0

    def card(self, call: int, *, note: str = "", wide: bool = False) -> str:
        """Return the card of a call."""
        self._done += 1
        if self._progress is not None:
            total = len(self.novel) + len(self.groups) + len(self.surest)
            self._progress(Progress("pictures", self._done, total))
        return card(self.results, call, self.frame, note=note, wide=wide)


# ---------------------------------------------------------------------- which calls


def _most_novel(results: StudyResults) -> list[int]:
    """Return the most novel calls, no more than a few of one recording."""
    seen: dict[str, int] = {}
    found = []
    for call in results.by_novelty.tolist():
        name = results.calls.recording[call]
        if results.novel[call] and seen.get(name, 0) < _MOST_A_RECORDING:
            seen[name] = seen.get(name, 0) + 1
            found.append(call)
        if len(found) == _N_NOVEL:
            break
    return found


def _surest_calls(results: StudyResults) -> list[tuple[str, int]]:
    """Return for each class the call that has it with the highest score."""
    found = []
    labels = np.array([str(label) for label in results.calls.label], dtype=object)
    for column, name in enumerate(results.calls.classes):
        rows = np.flatnonzero(labels == name)
        if len(rows) and results.calls.class_scores is not None:
            best = rows[np.argmax(results.calls.class_scores[rows, column])]
            found.append((name, int(best)))
    return found[:_MOST_CLASSES]


# ---------------------------------------------------------------------- sections


def _title(results: StudyResults) -> str:
    novel = int(results.novel.sum())
    if not len(results.calls):
        return "No calls were found"
    if not novel:
        return "Every call is of a listed species"
    verb = "is" if novel == 1 else "are"
    return f"{novel:,} of {_count(len(results.calls), 'call')} {verb} of no listed species"


def _lead(results: StudyResults) -> str:
    usable = [found for found in results.recordings if found.usable]
    hours = sum(found.duration_s for found in usable) / 3600
    listed = len(results.model.classes)
    return (
        f'<p class="lead">{_count(len(usable), "recording")}, {_duration(hours)} in all. The model '
        f"learned {_count(listed, 'species', 'species')} from the lists of "
        f"{_count(results.model.n_bags, 'recording')}, which say what was heard somewhere in it "
        "and nothing more. It then judged every single call: which species it is, or that it is "
        "none of them.</p>\n"
        '<nav aria-label="Sections"><a href="#novel">Most novel</a><a href="#groups">Candidate new '
        'classes</a><a href="#overview">Recordings and classes</a><a href="#species">Listed '
        'species</a><a href="#settings">Settings</a></nav>'
    )


def _figures(results: StudyResults, verdict: Verdict | None) -> str:
    n_calls, novel = len(results.calls), int(results.novel.sum())
    cards = [
        ("Calls", f"{n_calls:,}", f"in {_count(len(results.recordings), 'recording')}"),
        ("Novel", f"{novel:,}", f"{novel / max(1, n_calls):.0%} of all calls"),
        ("Candidate new classes", f"{len(results.candidates)}", "groups of novel calls"),
    ]
    if verdict is not None and verdict.auc is not None:
        cards.append(("AUC", f"{verdict.auc.estimate:.3f}", "novel against known, by the notes"))
    else:
        listed = len(results.species)
        cards.append(("Labelled", f"{listed:,}", "recordings with a list of species"))
    shown = "".join(
        f'<div><dt>{name}</dt><dd class="value">{value}</dd><dd class="note">{note}</dd></div>'
        for name, value, note in cards
    )
    return f'<section aria-label="Figures"><dl class="figures">{shown}</dl></section>'


def _novel_calls(draw: _Studio) -> str:
    if not draw.novel:
        return (
            '<section id="novel"><h2>The most novel calls</h2><p>No call is novel at this '
            "threshold.</p></section>"
        )
    cards = "".join(draw.card(call, wide=not place) for place, call in enumerate(draw.novel))
    return (
        '<section id="novel"><h2>The most novel calls</h2>\n'
        "<p>Listen to these first. The box is the call; around it is what the recorder heard at "
        f"the time. At most {_MOST_A_RECORDING} are from one recording.</p>\n"
        f'<div class="shots">{cards}</div></section>'
    )


def _groups(draw: _Studio) -> str:
    if not draw.groups:
        return (
            '<section id="groups"><h2>Candidate new classes</h2><p>There are too few novel calls '
            "that resemble each other to speak of a class.</p></section>"
        )
    shown = "".join(_group(draw, group) for group in draw.groups)
    left = len(draw.results.candidates) - len(draw.groups)
    more = f" {left} smaller groups are in results/candidates.csv." if left else ""
    return (
        '<section id="groups"><h2>Candidate new classes</h2>\n'
        "<p>Novel calls that resemble each other: perhaps one species that nobody listed, perhaps "
        f"one kind of noise. First comes the call that is most like the others.{more}</p>\n"
        f"{shown}</section>"
    )


def _group(draw: _Studio, group: CandidateClass) -> str:
    calls = draw.results.calls
    places = {calls.recording[call] for call in group.members.tolist()}
    others = [call for call in group.members.tolist() if call != group.medoid][:_N_MEMBERS]
    thumbs = "".join(thumb(draw.results, call, draw.frame) for call in others)
    members = f'<ul class="thumbs">{thumbs}</ul>' if thumbs else ""
    return (
        f'<article class="group"><h3>{escape(group.name)} <span class="soft">'
        f"{_count(len(group.members), 'call')} in {_count(len(places), 'recording')}</span></h3>"
        f'<div class="medoid">{draw.card(group.medoid)}{members}</div></article>'
    )


def _surest(draw: _Studio) -> str:
    if not draw.surest:
        return ""
    cards = "".join(draw.card(call) for _, call in draw.surest)
    return (
        '<section id="species"><h2>Listed species at their surest</h2>\n'
        "<p>The one call of each species that the model is most certain of. If one of them is "
        "something else, the lists mislead it: look at those first.</p>\n"
        f'<div class="shots small">{cards}</div></section>'
    )


def _spread(results: StudyResults) -> str:
    picture = histogram(results)
    if not picture:
        return ""
    promise = escape(results.promise) if results.promise else "It is the model's own threshold."
    return (
        '<section id="spread"><h2>Where novel begins</h2>\n'
        f"<p>How many calls are how novel (square root, so that few can be seen beside many). "
        f"{_sentence(promise)}</p>\n{picture}</section>"
    )


def _judgement(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    rows = {
        "AUC, all recordings": _area(verdict.auc),
        "AUC, recordings without a list": _area(verdict.unlabelled_auc),
        "right class, or rightly novel": _share(verdict.accuracy),
        "novel among those called novel": _share(verdict.precision),
        "called novel among the novel": _share(verdict.recall),
        "calls of listed species": f"{verdict.n_known:,}",
        "calls of others": f"{verdict.n_novel:,}",
        "noted sounds found": f"{verdict.n_found:,} of {verdict.n_notes:,}",
        "noted, never listed": ", ".join(verdict.hidden) or "none",
    }
    return (
        '<section id="truth"><h2>How right it is</h2>\n'
        "<p>Somebody has noted what the sounds of some recordings are. The model has not seen "
        "these notes; here its calls are compared with them. A call counts if its box lies for "
        'the most part in that of a noted sound.</p>\n<div class="pair">'
        f"{_curve(verdict)}{_table('', rows)}</div></section>"
    )


def _curve(verdict: Verdict) -> str:
    if verdict.roc is None or verdict.auc is None:
        return (
            '<p class="soft">There is no curve: for one, calls of listed species and of others '
            "must both be noted.</p>"
        )
    return roc_figure(
        [Line(verdict.roc.fpr, verdict.roc.tpr, "exact")],
        verdict.point,
        title="ROC curve",
        text=(
            f"The area under the curve is {verdict.auc.estimate:.3f}. At the threshold "
            f"{verdict.point[1]:.0%} of the known and {verdict.point[0]:.0%} of the novel calls "
            "are called known."
        ),
    )


def _facts(results: StudyResults) -> str:
    settings, model = results.study.settings, results.model
    chosen = {
        "recordings": settings.recordings,
        "table of species": settings.labels or "none",
        **_segmentation(settings),
        "features": settings.feature_recipe.kind,
        **({"their terms": terms} if (terms := feature_terms(settings.feature_recipe)) else {}),
        "lists restrict their recordings": "yes" if settings.known_labels == "use" else "no",
        "miss rate asked for": "none" if settings.miss_rate is None else f"{settings.miss_rate:g}",
        "seed": str(settings.seed),
    }
    learned = {
        "model": model.kind,
        "recordings learned from": f"{model.n_bags:,}",
        "calls learned from": f"{model.n_instances:,}",
        "decisions learned from": f"{model.n_decisions:,}",
        **{name: value for name, value in model.parameters.items() if value != "None"},
    }
    versions = {
        "raravis": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "model": model.key,
        "scores": results.run,
        "scored at": results.scored_at,
    }
    tables = [_table("Study", chosen), _table("Model", learned), _table("Versions", versions)]
    if settings.segmentation == "automatic":
        tables.insert(1, _table("Finding sounds", _recipe(settings.segment_recipe)))
    return (
        '<section id="settings"><h2>How this was computed</h2>\n'
        f'<div class="facts">{"".join(tables)}</div></section>'
    )


def _segmentation(settings: Settings) -> dict[str, str]:
    """Return how sounds were found, with what that needs to be done again."""
    if settings.segmentation == "windows":
        return {"segments": f"windows of {settings.window_s:g} s"}
    if settings.segmentation == "boxes":
        return {"segments": f"boxes of {settings.boxes}"}
    return {"segments": settings.segmentation}


def _recipe(recipe: SegmentRecipe) -> dict[str, str]:
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in recipe.to_dict().items()
        if value is not None
    }


# ---------------------------------------------------------------------- words


def _table(caption: str, rows: dict[str, str]) -> str:
    head = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _area(interval: Interval | None) -> str:
    if interval is None:
        return "cannot be told"
    return f"{interval.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _share(value: float) -> str:
    return "cannot be told" if math.isnan(value) else f"{value:.3f}"


def _count(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> _count(1, "call"), _count(2000, "call")
    ('1 call', '2,000 calls')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _duration(hours: float) -> str:
    if hours >= 2:
        return f"{hours:,.1f} hours"
    return f"{60 * hours:.0f} minutes" if hours >= 1 / 30 else f"{3600 * hours:.0f} seconds"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
