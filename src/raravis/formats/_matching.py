"""Which recording a name in somebody's table means."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

__all__ = ["Matches", "match_names"]


_SOUND_ENDINGS = frozenset(
    {"wav", "flac", "mp3", "ogg", "aif", "aiff", "w64", "rf64", "m4a", "wac"}
)


@dataclass(frozen=True, slots=True)
class Matches:
    """Names and the recordings that they mean; names that mean none, or more than one."""

    matched: dict[str, str]
    unmatched: tuple[str, ...]
    ambiguous: dict[str, tuple[str, ...]]


def match_names(names: Iterable[str], recordings: Sequence[str]) -> Matches:
    """Match names by path, by path without ending, by name, by name without ending.

    A name that has another ending of sound files than the recording matches if nothing else does.
    A name may have more folders before it than the recording, as absolute paths do, and then as
    few as possible are left out. Upper and lower case count only if they tell recordings apart.
    """
    indices = [_Index(key, fold, recordings) for fold in (False, True) for key in _KEYS]
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    unmatched: list[str] = []
    for name in names:
        spellings = [name, *_without_sound_ending(name)]
        tries = ((index, spelling) for spelling in spellings for index in indices)
        hits = ((rank, index.find(spelling)) for rank, (index, spelling) in enumerate(tries))
        first = next((hit for hit in hits if hit[1]), None)
        if first is None:
            unmatched.append(name)
        else:
            found[name] = first
    return _settle(found, unmatched)


def _without_sound_ending(name: str) -> list[str]:
    stem, dot, ending = name.rpartition(".")
    return [stem] if stem and dot and ending.strip().lower() in _SOUND_ENDINGS else []


def _settle(found: dict[str, tuple[int, tuple[str, ...]]], unmatched: list[str]) -> Matches:
    """Let the name that fits best have a recording; of names that fit alike, none has it."""
    claims: dict[str, list[tuple[int, str]]] = {}
    for name, (rank, hits) in found.items():
        if len(hits) == 1:
            claims.setdefault(hits[0], []).append((rank, name))
    matched: dict[str, str] = {}
    ambiguous = {name: hits for name, (_, hits) in found.items() if len(hits) > 1}
    for recording, claimed in claims.items():
        best = min(claimed)[0]
        winners = [name for rank, name in claimed if rank == best]
        unmatched += [name for rank, name in claimed if rank > best]
        if len(winners) == 1:
            matched[winners[0]] = recording
        else:
            ambiguous |= dict.fromkeys(winners, (recording,))
    order = {name: i for i, name in enumerate(found)}
    kept = dict(sorted(matched.items(), key=lambda pair: order[pair[0]]))
    return Matches(kept, tuple(unmatched), ambiguous)


# ---------------------------------------------------------------------- one way of matching


def _normal(name: str) -> str:
    """Return a path with slashes, in the one of Unicode's spellings that most programs write."""
    parts = unicodedata.normalize("NFC", name.strip()).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in {"", "."})


def _path(name: str) -> str:
    return name


def _bare_path(name: str) -> str:
    path = PurePosixPath(name)
    return str(path.with_suffix("")) if path.suffix else name


def _name(name: str) -> str:
    return PurePosixPath(name).name


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


_KEYS: tuple[Callable[[str], str], ...] = (_path, _bare_path, _name, _stem)


class _Index:
    """Recordings by one part of their path, with or without regard to case."""

    def __init__(self, key: Callable[[str], str], fold: bool, recordings: Sequence[str]) -> None:
        self._whole = key in {_path, _bare_path}
        self._fold = fold
        self._index: dict[str, list[str]] = {}
        for recording in recordings:
            self._index.setdefault(self._folded(key(_normal(recording))), []).append(recording)

    def find(self, name: str) -> tuple[str, ...]:
        """Return the recordings that a name means, which may have its ending or not."""
        normal = self._folded(_normal(name))
        for candidate in _endings(normal) if self._whole else (_name(normal),):
            if candidate in self._index:
                return tuple(self._index[candidate])
        return ()

    def _folded(self, name: str) -> str:
        return name.casefold() if self._fold else name


def _endings(path: str) -> Iterator[str]:
    """Yield a path, then without its first folder, and so on."""
    parts = path.split("/")
    return ("/".join(parts[start:]) for start in range(len(parts)))
