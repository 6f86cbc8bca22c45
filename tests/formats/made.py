"""Calls made up by hypothesis, for the laws of every format."""

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from raravis.formats import CallTable

# What a cell of tab-separated text can hold; the rest is refused by the writers, and tested so.
PLAIN = st.characters(blacklist_categories=("Cs", "Cc"))
ANY = st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")
SECONDS = st.floats(0, 1e7, allow_nan=False)
SCORES = st.floats(allow_nan=True, allow_infinity=True)


def names(characters: st.SearchStrategy[str] = PLAIN) -> st.SearchStrategy[str]:
    return st.text(characters, min_size=1, max_size=8)


def titles(characters: st.SearchStrategy[str] = PLAIN) -> st.SearchStrategy[str]:
    """Names of columns that no format has."""
    return names(characters).filter(str.strip).map(lambda name: f"{name} of ours")


def _boxes(draw: Any, n: int, *, known: bool) -> tuple[list[float], list[float]]:
    if not known:
        return [math.nan] * n, [math.nan] * n
    edges = st.one_of(st.just(math.nan), st.floats(0, 96000))
    low, high = [], []
    for _ in range(n):
        pair = sorted([draw(edges), draw(edges)])
        low.append(pair[0])
        high.append(pair[1])
    return low, high


@st.composite
def tables(
    draw: Any,
    *,
    characters: st.SearchStrategy[str] = PLAIN,
    one_recording: bool = False,
    bare: bool = False,
) -> CallTable:
    """Calls of which a format holds all (``bare``: no more than Audacity does)."""
    n = draw(st.integers(0, 5))
    recording = draw(names(characters))
    recordings = [recording if one_recording else draw(names(characters)) for _ in range(n)]
    begin = draw(st.lists(SECONDS, min_size=n, max_size=n))
    end = [b + draw(st.floats(0, 1e4)) for b in begin]
    low, high = _boxes(draw, n, known=draw(st.booleans()))
    labels = draw(st.lists(st.none() | names(characters), min_size=n, max_size=n))
    if bare:
        return CallTable(recordings, begin, end, low, high, labels)
    columns = draw(st.lists(titles(characters), max_size=4, unique_by=str.casefold))
    cut = draw(st.integers(0, len(columns)))
    classes, further = columns[:cut], columns[cut:]
    cells = st.lists(st.text(characters, max_size=6), min_size=n, max_size=n)
    return CallTable(
        recordings,
        begin,
        end,
        low,
        high,
        labels,
        draw(st.none() | st.lists(SCORES, min_size=n, max_size=n)),
        np.array([[draw(SCORES) for _ in classes] for _ in range(n)]).reshape(n, len(classes))
        if classes
        else None,
        classes,
        draw(st.none() | st.lists(st.integers(1, 9), min_size=n, max_size=n)),
        {name: draw(cells) for name in further},
    )
