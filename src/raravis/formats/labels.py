"""Species per recording, from whatever people keep them in.

A recording that was listened to and in which nothing is listed is not the same as one that nobody
has listened to; a species that is absent is not the same as one that nobody has looked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType

import numpy as np

from raravis.errors import InputError
from raravis.formats._matching import Matches, match_names
from raravis.formats._species import Found, Source, merge
from raravis.labels import ABSENT, UNKNOWN, BagLabels

__all__ = ["SpeciesLists", "read_species"]


@dataclass(frozen=True)
class SpeciesLists:
    """Species per recording as a file or a folder lists them.

    Parameters
    ----------
    labels : BagLabels
        A row for each recording that somebody has listened to; its key is the recording.
    unmatched : tuple of str
        Names in the file that match no recording.
    ambiguous : mapping of str to tuple of str
        Names in the file that match several recordings, or share one with another name; they
        label none.
    unlabelled : tuple of str
        Recordings that have no labels.
    ignored : tuple of str
        What was passed over: columns of a wide table, or files of a folder.
    """

    labels: BagLabels
    unmatched: tuple[str, ...] = ()
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unlabelled: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ambiguous", MappingProxyType(dict(self.ambiguous)))

    @property
    def recordings(self) -> tuple[str, ...]:
        """The recordings that have labels."""
        return tuple(str(key) for key in self.labels.keys or ())

    @property
    def classes(self) -> tuple[str, ...]:
        """The species, sorted."""
        return tuple(str(name) for name in self.labels.classes)

    @property
    def species(self) -> dict[str, tuple[str, ...]]:
        """The species present in each recording that has labels; none if nothing is listed."""
        present = self.labels.present
        return {
            name: tuple(self.classes[i] for i in row.nonzero()[0])
            for name, row in zip(self.recordings, present, strict=True)
        }

    def __repr__(self) -> str:
        return (
            f"SpeciesLists({len(self.recordings)} recordings, {len(self.classes)} species, "
            f"{len(self.unmatched)} unmatched, {len(self.ambiguous)} ambiguous, "
            f"{len(self.unlabelled)} unlabelled)"
        )


def read_species(
    path: str | PathLike[str],
    recordings: Iterable[str] | None = None,
    *,
    recording_column: str | None = None,
    species_column: str | None = None,
    separator: str = ";",
    min_confidence: float = 0.0,
) -> SpeciesLists:
    r"""Read which species occur in which recording.

    Understood are, as CSV (commas, semicolons, tabs) or Parquet, a table with one row a recording
    and its species in one cell, one with a row for each recording and species (in both, an empty
    cell says that the recording was listened to and nothing is listed; species that are not
    listed are absent), and a wide one with a column a species and in it 1 for present, 0 for
    absent, nothing for unknown. Also the labels of calls: Raven tables, Audacity labels, BirdNET's
    results, tables of calls, or a folder with such files, in each of which a file without calls is
    a recording in which nothing was found.

    Parameters
    ----------
    path : path-like
        A file or a folder.
    recordings : iterable of str, optional
        All recordings, as paths within their folder. Names in the file match them by path, by name
        or by name without ending, in this order. Without, the names stay as they are.
    recording_column, species_column : str, optional
        Where a table has them; by default columns of the usual names.
    separator : str
        Stands between the species of a cell.
    min_confidence : float
        BirdNET's detections with less are left out.

    Returns
    -------
    SpeciesLists

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder, "species.csv")
    ...     _ = table.write_text("recording,species\ndawn,wren;robin\ndusk.wav,\n")
    ...     found = read_species(table, ["dawn.wav", "dusk.wav", "night.wav"])
    >>> found.species
    {'dawn.wav': ('robin', 'wren'), 'dusk.wav': ()}
    >>> found.unlabelled
    ('night.wav',)
    """
    if not separator:
        raise InputError("separator is empty; give what stands between species, such as ';'.")
    source = Source(recording_column, species_column, separator, min_confidence)
    found, ignored = source.read(path)
    listed = tuple(found) if recordings is None else _listed(recordings)
    if recordings is None:
        matches = Matches({name: name for name in found}, (), {})
    else:
        matches = match_names(found, listed)
    known = _by_recording(found, matches, listed)
    missing = tuple(name for name in listed if name not in known)
    return SpeciesLists(_labels(known), matches.unmatched, matches.ambiguous, missing, ignored)


def _listed(recordings: Iterable[str]) -> tuple[str, ...]:
    if isinstance(recordings, str):
        raise InputError(f"recordings is the text {recordings!r}; give a list of names.")
    return tuple(dict.fromkeys(recordings))


def _by_recording(found: Found, matches: Matches, recordings: Sequence[str]) -> Found:
    """Return what is known of each recording, in their order; none of which nothing is known."""
    known: Found = {}
    for name, recording in matches.matched.items():
        merge(known.setdefault(recording, {}), found[name])
    return {name: known[name] for name in recordings if name in known and _says(known[name])}


def _says(status: Mapping[str, int]) -> bool:
    return not status or any(mark != UNKNOWN for mark in status.values())


def _labels(known: Found) -> BagLabels:
    """Make labels; what a recording has no word of is absent, as lists do not name it."""
    classes = sorted({species for status in known.values() for species in status})
    rows = [[status.get(name, int(ABSENT)) for name in classes] for status in known.values()]
    matrix = np.array(rows, dtype=np.int8).reshape(len(known), len(classes))
    return BagLabels(tuple(classes), matrix, tuple(known), np.ones(len(known), dtype=bool))
