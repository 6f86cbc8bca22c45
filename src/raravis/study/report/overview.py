"""What is where: recordings against classes, and how the novelty of all calls is spread."""

from collections import Counter
from collections.abc import Sequence
from html import escape

import numpy as np

from raravis.study.labels import NOVEL_NAME
from raravis.study.recordings import Recording
from raravis.study.report.cards import number
from raravis.study.results import StudyResults

__all__ = ["histogram", "overview", "problems_table"]

_MOST_ROWS, _MOST_CLASSES = 60, 24
_STRIP_BINS = 120
_BINS = 48


def overview(results: StudyResults) -> str:
    """Return the table of calls of each class in each recording."""
    counts = _counts(results)
    shown = _shown(results, counts)
    classes = _columns(results, counts)
    most = max((count for row in counts.values() for count in row.values()), default=1)
    heads = "".join(f'<th scope="col"><span>{escape(name)}</span></th>' for name in classes)
    body = "".join(_row(results, found, counts, classes, most) for found in shown)
    left = len(counts) - len(shown)
    more = (
        f" The {left} recordings with the fewest novel calls are left out here; all are in "
        "results/recordings.csv."
        if left
        else ""
    )
    return (
        '<section id="overview"><h2>Recordings and classes</h2>\n'
        '<p>Calls found, by recording and class. A <span class="ring">ring</span> marks a '
        "species that is listed for the recording; a recording without any ring or dash has no "
        f"list. Ticks show when the calls are, novel ones in colour.{more}</p>\n"
        '<div class="scroll"><table class="overview"><thead><tr><th scope="col">Recording</th>'
        f'<th scope="col" class="through">from start to end</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _counts(results: StudyResults) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {it.name: Counter() for it in results.recordings if it.usable}
    for name, label in zip(results.calls.recording, results.calls.label, strict=True):
        counts[name][str(label)] += 1
    return counts


def _shown(results: StudyResults, counts: dict[str, Counter[str]]) -> list[Recording]:
    usable = [it for it in results.recordings if it.name in counts]
    best = sorted(usable, key=lambda it: (-counts[it.name][NOVEL_NAME], it.name))[:_MOST_ROWS]
    return sorted(best, key=lambda it: it.name)


def _columns(results: StudyResults, counts: dict[str, Counter[str]]) -> list[str]:
    total: Counter[str] = sum(counts.values(), Counter())
    listed = Counter(name for names in results.species.values() for name in names)
    by_weight = sorted(results.model.classes, key=lambda name: (-total[name], -listed[name], name))
    kept = {*by_weight[:_MOST_CLASSES]}
    return [NOVEL_NAME, *(name for name in results.model.classes if name in kept)]


def _row(
    results: StudyResults,
    found: Recording,
    counts: dict[str, Counter[str]],
    classes: Sequence[str],
    most: int,
) -> str:
    listed = results.species.get(found.name)
    cells = "".join(_cell(name, counts[found.name][name], listed, most) for name in classes)
    empty = ' <span class="soft">nothing listed</span>' if listed == () else ""
    return (
        f'<tr><th scope="row">{escape(found.name)}{empty}</th>'
        f'<td class="through">{_strip(results, found)}</td>{cells}</tr>'
    )


def _cell(name: str, count: int, listed: tuple[str, ...] | None, most: int) -> str:
    kind = "novel" if name == NOVEL_NAME else "known"
    strength = 0 if not count else 12 + round(58 * (count / most) ** 0.5)
    ring = " listed" if listed is not None and name in listed else ""
    note = '<span class="unseen"> listed</span>' if ring else ""
    text = f"{count:,}" if count else "\N{MIDDLE DOT}"
    return f'<td class="cell {kind}{ring}" style="--s:{strength}%"><span>{text}</span>{note}</td>'


def _strip(results: StudyResults, found: Recording) -> str:
    """Draw when the calls of a recording are; a novel one stands before the others."""
    rows = [i for i, name in enumerate(results.calls.recording) if name == found.name]
    if not rows or not found.duration_s:
        return ""
    index = np.array(rows)
    middle = (results.calls.begin_s[index] + results.calls.end_s[index]) / 2
    place = np.minimum(_STRIP_BINS - 1, (_STRIP_BINS * middle / found.duration_s).astype(int))
    novel = sorted(set(place[results.novel[index]].tolist()))
    known = sorted(set(place.tolist()) - set(novel))
    drawn = _ticks("known", known, top=5) + _ticks("novel", novel, top=1)
    return (
        f'<svg class="strip" viewBox="0 0 {_STRIP_BINS} 18" preserveAspectRatio="none" '
        f'aria-hidden="true">{drawn}</svg>'
    )


def _ticks(kind: str, places: Sequence[int], *, top: int) -> str:
    path = "".join(f"M{x + 0.5:g} {top}v{18 - 2 * top}" for x in places)
    return f'<path class="{kind}" d="{path}"/>' if places else ""


def histogram(results: StudyResults) -> str:
    """Draw how many calls are how novel, and where novel begins."""
    novelty = results.novelty
    if not len(novelty):
        return ""
    low, high = float(novelty.min()), float(novelty.max())
    span = (high - low) or 1.0
    edges = np.linspace(low, low + span, _BINS + 1)
    novel, _ = np.histogram(novelty[results.novel], edges)
    known, _ = np.histogram(novelty[~results.novel], edges)
    most = max(1, int((novel + known).max()))
    bars = "".join(
        _bar(i, int(count), most, kind, base=0)
        for kind, counts in (("known", known), ("novel", novel))
        for i, count in enumerate(counts)
    )
    at = 640 * min(1.0, max(0.0, (results.threshold - low) / span))
    anchor = "start" if at < 320 else "end"
    shift = 6 if at < 320 else -6
    return (
        '<svg class="histogram" viewBox="0 0 640 150" role="img" aria-label="How many calls are '
        f'how novel">{bars}<path class="cut" d="M{at:.1f} 0V124"/>'
        f'<text x="{at + shift:.1f}" y="11" text-anchor="{anchor}">threshold '
        f'{number(results.threshold)}</text><path class="base" d="M0 124.5H640"/>'
        f'<text x="0" y="142">{number(low)}</text>'
        '<text x="320" y="142" text-anchor="middle">novelty</text>'
        f'<text x="640" y="142" text-anchor="end">{number(high)}</text></svg>'
    )


def _bar(i: int, count: int, most: int, kind: str, *, base: int) -> str:
    if not count:
        return ""
    width = 640 / _BINS
    height = 108 * (count / most) ** 0.5
    return (
        f'<rect class="{kind}" x="{i * width + 0.7:.1f}" y="{124 - base - height:.1f}" '
        f'width="{width - 1.4:.1f}" height="{height:.1f}"/>'
    )


def problems_table(results: StudyResults) -> str:
    """Return the recordings that could not be used or only with a reservation; empty if none."""
    rows = [
        (it.name, "not used" if not it.usable else it.status, it.detail or it.status)
        for it in results.recordings
        if it.status != "ok"
    ]
    rows += [(name, "not used", what) for name, what in sorted(results.problems.items())]
    rows += [
        (name, "no such recording", "named in the table of species") for name in results.unmatched
    ]
    if not rows:
        return ""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(what)}</td><td>{escape(why)}</td></tr>'
        for name, what, why in rows[:200]
    )
    more = f"<p>And {len(rows) - 200} more.</p>" if len(rows) > 200 else ""
    return (
        '<section id="problems"><h2>Recordings to look at</h2>\n<div class="scroll"><table><thead>'
        '<tr><th scope="col">Recording</th><th scope="col">What</th><th scope="col">Why</th></tr>'
        f"</thead><tbody>{body}</tbody></table></div>{more}</section>"
    )
