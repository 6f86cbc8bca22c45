"""How right a study is, where somebody has noted what the sounds are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raravis.errors import InputError
from raravis.formats import CallTable
from raravis.metrics import Interval, RocCurve, bootstrap_auc, exact_roc
from raravis.study.errors import StudyError
from raravis.study.results import StudyResults
from raravis.study.tables import read_call_tables

__all__ = ["Verdict", "judge", "match_notes"]

# A call is of a noted sound if its box lies in that sound's by at least this share.
_SHARE = 0.5

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What became of the sounds that somebody has noted.

    Parameters
    ----------
    n_notes, n_found : int
        The noted sounds, and those of which a call was found.
    n_known, n_novel : int
        The calls that are of a noted sound: of a listed class, and of another.
    hidden : tuple of str
        The classes that were noted but never listed.
    auc : Interval or None
        Known against novel calls, with an interval over recordings; None without one of each.
    unlabelled_auc : Interval or None
        The same in recordings without a list alone.
    roc : RocCurve or None
    point : tuple of float
        Where the threshold lies on the curve: novel calls and known calls taken for known.
    accuracy : float
        Share of these calls with the right class, or rightly called novel.
    precision, recall : float
        Of "novel" among these calls.
    """

    n_notes: int
    n_found: int
    n_known: int
    n_novel: int
    hidden: tuple[str, ...]
    auc: Interval | None
    unlabelled_auc: Interval | None
    roc: RocCurve | None
    point: tuple[float, float]
    accuracy: float
    precision: float
    recall: float


def judge(results: StudyResults) -> Verdict | None:
    """Compare results with the table of noted sounds that the settings name, if they name one."""
    if not results.study.settings.truth:
        return None
    place = results.study.given_path(results.study.settings.truth)
    names = [found.name for found in results.recordings]
    notes, _ = read_call_tables(place, names)
    if not notes:
        raise StudyError(
            f"none of the noted sounds in {place} is in a recording of "
            f"{results.study.recordings_folder}; the table must name recordings as they are "
            "called there."
        )
    return _verdict(results, CallTable.concat(notes.values()))


def match_notes(calls: CallTable, notes: CallTable) -> IntArray:
    """Return for each call the note that it is of, or -1.

    A call may be a part of a noted sound, so what counts is the share of the call's time that lies
    within, times a share of its frequencies. Of those the noted band may hold fewer than the call
    reaches over, as people often note the loudest partial alone: shared hertz are then held against
    the geometric mean of both. Unknown frequencies lie within all.

    Examples
    --------
    >>> notes = CallTable(["a"], [1.0], [2.0], label=["wren"])
    >>> match_notes(CallTable(["a", "a", "b"], [1.2, 1.9, 1.2], [1.4, 2.9, 1.4]), notes)
    array([ 0, -1, -1])
    >>> whole = CallTable(["a"], [0.0], [3.0], [2000.0], [8000.0], ["wren"])
    >>> match_notes(CallTable(["a", "a"], [1, 1], [2, 2], [2500, 7500], [3000, 14000]), whole)
    array([ 0, -1])
    """
    found = np.full(len(calls), -1, dtype=np.int64)
    of_recording: dict[str, list[int]] = {}
    for row, name in enumerate(notes.recording):
        of_recording.setdefault(name, []).append(row)
    for row, name in enumerate(calls.recording):
        places = of_recording.get(name, [])
        if places:
            shares = _shares(calls, row, notes, np.array(places))
            best = int(np.argmax(shares))
            found[row] = places[best] if shares[best] >= _SHARE else -1
    return found


def _shares(calls: CallTable, row: int, notes: CallTable, places: IntArray) -> NDArray[np.float64]:
    begin, end = calls.begin_s[row], calls.end_s[row]
    low = np.nan_to_num(calls.low_hz[row], nan=0.0)
    high = np.nan_to_num(calls.high_hz[row], nan=np.inf)
    inside_s = np.minimum(end, notes.end_s[places]) - np.maximum(begin, notes.begin_s[places])
    seconds = np.clip(inside_s / max(end - begin, 1e-9), 0.0, 1.0)
    top = np.where(np.isnan(notes.high_hz[places]), high, notes.high_hz[places])
    bottom = np.where(np.isnan(notes.low_hz[places]), low, notes.low_hz[places])
    if not np.isfinite(high) or high <= low:
        return np.asarray(seconds, dtype=np.float64)
    width = np.sqrt((high - low) * np.minimum(high - low, np.maximum(top - bottom, 1e-9)))
    hertz = np.clip((np.minimum(high, top) - np.maximum(low, bottom)) / width, 0.0, 1.0)
    product: NDArray[np.float64] = seconds * hertz
    return product


def _verdict(results: StudyResults, notes: CallTable) -> Verdict:
    calls, classes = results.calls, set(results.model.classes)
    match = match_notes(calls, notes)
    rows = np.array([i for i, m in enumerate(match) if m >= 0 and notes.label[m]], dtype=np.int64)
    truth = [str(notes.label[match[i]]) for i in rows]
    known = np.array([name in classes for name in truth], dtype=bool)
    novel = results.novel[rows]
    right = [
        (name == calls.label[i]) if is_known else bool(is_novel)
        for name, i, is_known, is_novel in zip(truth, rows, known, novel, strict=True)
    ]
    scores = -results.novelty[rows]
    recordings = [calls.recording[i] for i in rows]
    free = np.array([name not in results.species for name in recordings], dtype=bool)
    return Verdict(
        n_notes=len(notes),
        n_found=len(set(match[match >= 0].tolist())),
        n_known=int(known.sum()),
        n_novel=int((~known).sum()),
        hidden=tuple(sorted({name for name in notes.label if name} - classes)),
        auc=_area(known, scores, recordings),
        unlabelled_auc=_area(
            known[free], scores[free], [n for n in recordings if n not in results.species]
        ),
        roc=exact_roc(known, scores) if 0 < known.sum() < len(known) else None,
        point=(_share(~novel[~known]), _share(~novel[known])),
        accuracy=_share(np.array(right, dtype=bool)),
        precision=_share(~known[novel]),
        recall=_share(novel[~known]),
    )


def _area(known: BoolArray, scores: NDArray[np.float64], recordings: list[str]) -> Interval | None:
    if not 0 < known.sum() < len(known):
        return None
    try:
        return bootstrap_auc(known, scores, recordings, seed=0)
    except InputError:
        return None  # of one recording there is no interval


def _share(flags: BoolArray) -> float:
    return float(flags.mean()) if len(flags) else float("nan")
