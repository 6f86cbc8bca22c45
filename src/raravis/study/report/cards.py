"""Cards: a call with its spectrogram, its box, a player, and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from raravis.audio import AudioError
from raravis.study.report.shots import Shot, View, play, shoot, view_of
from raravis.study.results import StudyResults

__all__ = ["Frame", "card", "clock", "number", "thumb"]

# Shown around a call, unless the call is longer.
_WIDTH_S = 3.0
_CLIP_MARGIN_S, _LONGEST_CLIP_S = 0.5, 5.0
_COLUMNS, _THUMB_COLUMNS = 600, 180


@dataclass(frozen=True)
class Frame:
    """What all pictures of a report have in common: the frequency at their top."""

    high_hz: float

    @classmethod
    def of(cls, results: StudyResults) -> "Frame":
        """Choose the frequencies to show: those of nearly all calls, with room above."""
        high = results.calls.high_hz
        high = high[np.isfinite(high)]
        if not len(high):
            return cls(8000.0)
        return cls(float(max(2000.0, np.ceil(1.15 * np.percentile(high, 98) / 500) * 500)))


def card(
    results: StudyResults, call: int, frame: Frame, *, note: str = "", wide: bool = False
) -> str:
    """Return the card of a call; one whose sound has gone since says so."""
    calls = results.calls
    name = calls.recording[call]
    when = clock(calls.begin_s[call])
    head = (
        f'<span class="when">{when}</span> <span class="where">{escape(name)}</span>'
        f'<span class="said">{_said(results, call)}</span>'
    )
    try:
        path = results.sound_path(name)
        shot = shoot(path, _view(results, call, frame), columns=_COLUMNS * (2 if wide else 1))
        begin, end = _clip(results, call)
        sound, slower = play(path, begin, end, high_hz=_high(results, call))
    except (AudioError, OSError):
        return (
            f'<figure class="shot"><p class="gone">The sound is no longer there.</p>'
            f"<figcaption>{head}</figcaption></figure>"
        )
    slowed = f" Played {slower} times slower." if slower > 1 else ""
    label = f"{calls.label[call]} in {name} at {when}"
    return (
        f'<figure class="shot{" wide" if wide else ""}">{_picture(results, call, shot, label)}'
        f"<figcaption><p>{head}</p>"
        f'<audio controls preload="none" src="{sound}" aria-label="{escape(label)}"></audio>'
        f"{_paragraph(note + slowed)}</figcaption></figure>"
    )


def thumb(results: StudyResults, call: int, frame: Frame) -> str:
    """Return a small picture of a call, cut out closely."""
    calls = results.calls
    name = calls.recording[call]
    label = f"{name} at {clock(calls.begin_s[call])}"
    width = 2.0 * float(calls.end_s[call] - calls.begin_s[call]) + 0.3
    try:
        view = _view(results, call, frame, width_s=width)
        shot = shoot(results.sound_path(name), view, columns=_THUMB_COLUMNS)
    except (AudioError, OSError):
        return ""
    return (
        f"<li>{_picture(results, call, shot, label, ticks=False)}"
        f'<span class="soft">{escape(label)}</span></li>'
    )


def clock(seconds: float) -> str:
    """Return a time in a recording as people write it.

    >>> clock(83.25), clock(3725.0)
    ('1:23.2', '1:02:05.0')
    """
    tenths = int(10 * seconds)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    tail = f"{rest // 10:02d}.{rest % 10}"
    return f"{hours}:{minutes:02d}:{tail}" if hours else f"{minutes}:{tail}"


def number(value: float) -> str:
    """Return a score with a proper minus sign.

    >>> number(0.1234)
    '0.123'
    """
    return f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def _view(results: StudyResults, call: int, frame: Frame, *, width_s: float = _WIDTH_S) -> View:
    calls = results.calls
    found = results.recording_of(calls.recording[call])
    nyquist = found.sample_rate_hz / 2
    return view_of(
        float(calls.begin_s[call]),
        float(calls.end_s[call]),
        width_s=width_s,
        high_hz=min(nyquist, max(frame.high_hz, 1.1 * _high(results, call))),
        duration_s=found.duration_s,
    )


def _clip(results: StudyResults, call: int) -> tuple[float, float]:
    calls = results.calls
    begin = max(0.0, float(calls.begin_s[call]) - _CLIP_MARGIN_S)
    return begin, min(float(calls.end_s[call]) + _CLIP_MARGIN_S, begin + _LONGEST_CLIP_S)


def _high(results: StudyResults, call: int) -> float:
    return float(np.nan_to_num(results.calls.high_hz[call], nan=0.0))


def _said(results: StudyResults, call: int) -> str:
    """Say what a call is, and of a novel one the class that it comes closest to."""
    calls = results.calls
    novelty = number(float(results.novelty[call]))
    if not results.novel[call]:
        return f'<b class="known">{escape(str(calls.label[call]))}</b> novelty {novelty}'
    closest = ""
    if calls.class_scores is not None and calls.classes:
        best = calls.classes[int(np.argmax(calls.class_scores[call]))]
        closest = f", closest to {escape(best)}"
    return f'<b class="novel">novel</b> {novelty}{closest}'


def _picture(
    results: StudyResults, call: int, shot: Shot, label: str, *, ticks: bool = True
) -> str:
    calls, view = results.calls, shot.view
    seconds = (view.end_s - view.begin_s) or 1.0
    hertz = (view.high_hz - view.low_hz) or 1.0
    left = 100 * (calls.begin_s[call] - view.begin_s) / seconds
    width = 100 * (calls.end_s[call] - calls.begin_s[call]) / seconds
    low, high = np.nan_to_num([calls.low_hz[call], calls.high_hz[call]], nan=view.high_hz)
    bottom, height = (
        100 * (low - view.low_hz) / hertz,
        100 * (min(high, view.high_hz) - low) / hertz,
    )
    kind = "novel" if results.novel[call] else "known"
    marks = _frequency_marks(view) + _time_marks(view) if ticks else ""
    return (
        f'<div class="view"><img src="{shot.image}" alt="Spectrogram: {escape(label)}">'
        f'<i class="box {kind}" style="left:{left:.2f}%;width:{width:.2f}%;bottom:{bottom:.2f}%;'
        f'height:{height:.2f}%"></i>{marks}</div>'
    )


def _frequency_marks(view: View) -> str:
    marks = {
        100 * (hz - view.low_hz) / (view.high_hz - view.low_hz): f"{hz / 1000:g}"
        for hz in _steps(view.low_hz, view.high_hz, at_most=5)
    }
    shown = {place: text for place, text in marks.items() if 8 < place < 95}
    if shown:
        shown[max(shown)] += " kHz"
    return "".join(
        f'<span class="hz" style="bottom:{place:.1f}%">{text}</span>'
        for place, text in shown.items()
    )


def _time_marks(view: View) -> str:
    return (
        f'<span class="from">{clock(view.begin_s)}</span>'
        f'<span class="to">{clock(view.end_s)}</span>'
    )


def _steps(low: float, high: float, *, at_most: int) -> Sequence[float]:
    """Return round frequencies between two others."""
    span = max(high - low, 1.0)
    powers = (base * 10.0**power for power in range(1, 6) for base in (1, 2, 5))
    step = next(step for step in powers if span / step <= at_most)
    return [float(x) for x in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step]


def _paragraph(text: str) -> str:
    return f'<p class="soft">{escape(text.strip())}</p>' if text.strip() else ""
