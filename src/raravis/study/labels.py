"""What was listed for which recording: the table of species, matched to the recordings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from raravis.labels import ABSENT, PRESENT, UNKNOWN, BagLabels
from raravis.study.errors import StudyError
from raravis.study.files import digest, hash_file, read_json, write_json
from raravis.study.recordings import Scan
from raravis.study.store import Study

__all__ = ["NOVEL_NAME", "StudyLabels", "hash_place", "known_labels", "make_labels"]

NOVEL_NAME = "novel"
"""What results call a call of no known class."""

_VERSION = 1
# The columns of a table of calls, which no class can be called as well.
_RESERVED = frozenset(
    {NOVEL_NAME, "recording", "begin_s", "end_s", "low_hz", "high_hz", "label", "channel"}
)


@dataclass(frozen=True)
class StudyLabels:
    """The species listed for each recording.

    Parameters
    ----------
    species : mapping of str to tuple of str
        By the name of the recording; an empty tuple is a recording that was listened to.
    unknown : mapping of str to tuple of str
        Species that nobody has looked for in a labelled recording.
    unmatched, ambiguous : tuple of str
        Names in the table that match no recording, or several.
    key : str
        Changes with the content.
    """

    species: Mapping[str, tuple[str, ...]]
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unmatched: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    key: str = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """All species that are listed anywhere, in the order of the alphabet."""
        return tuple(sorted({name for listed in self.species.values() for name in listed}))

    def for_bags(self, names: list[str]) -> BagLabels:
        """Return the labels of recordings; one that is not in the table is unlabelled."""
        classes = self.classes
        status = np.full((len(names), len(classes)), UNKNOWN, dtype=np.int8)
        column = {name: i for i, name in enumerate(classes)}
        for row, name in enumerate(names):
            if name in self.species:
                status[row] = ABSENT
                unsure = [column[it] for it in self.unknown.get(name, ()) if it in column]
                status[row, unsure] = UNKNOWN
                status[row, [column[it] for it in self.species[name]]] = PRESENT
        return BagLabels.from_status(status, classes, names)


def make_labels(study: Study, scan: Scan) -> StudyLabels:
    """Read the table of species that the settings name, unless that is done."""
    place = _place(study)
    key = digest(
        {
            "version": _VERSION,
            "table": hash_place(place),
            "columns": [study.settings.recording_column, study.settings.species_column],
            "separator": study.settings.separator,
            "recordings": [found.name for found in scan.recordings],
        }
    )
    known = known_labels(study)
    if known is not None and known.key == key:
        return known
    made = _read(study, place, scan, key)
    content = {
        "key": key,
        "species": {name: list(listed) for name, listed in made.species.items()},
        "unknown": {name: list(listed) for name, listed in made.unknown.items()},
        "unmatched": list(made.unmatched),
        "ambiguous": list(made.ambiguous),
    }
    write_json(content, study.labels_path)
    return made


def known_labels(study: Study) -> StudyLabels | None:
    """Return what was last read, or None if nothing was."""
    found = read_json(study.labels_path)
    if found is None:
        return None
    return StudyLabels(
        species={name: tuple(listed) for name, listed in found["species"].items()},
        unknown={name: tuple(listed) for name, listed in found["unknown"].items()},
        unmatched=tuple(found["unmatched"]),
        ambiguous=tuple(found["ambiguous"]),
        key=found["key"],
    )


def hash_place(place: Path) -> str:
    """Return a hash of a file, or of all files in a folder and their names."""
    if place.is_file():
        return hash_file(place)
    files = sorted(path for path in place.rglob("*") if path.is_file())
    return digest([[path.relative_to(place).as_posix(), hash_file(path)] for path in files])


def _place(study: Study) -> Path:
    if not study.settings.labels:
        raise StudyError(
            f"the study {study.folder} has no table of species; name one with raravis label "
            f"{study.folder} --labels species.csv."
        )
    place = study.given_path(study.settings.labels)
    if not place.exists():
        raise StudyError(
            f"the table of species {place} is not there; put it back, or name another with raravis "
            f"label {study.folder} --labels TABLE."
        )
    return place


def _read(study: Study, place: Path, scan: Scan, key: str) -> StudyLabels:
    from raravis.formats import read_species

    settings = study.settings
    found = read_species(
        place,
        [it.name for it in scan.recordings],
        recording_column=settings.recording_column,
        species_column=settings.species_column,
        separator=settings.separator,
    )
    unknown = {
        name: tuple(found.classes[i] for i in np.flatnonzero(row))
        for name, row in zip(found.recordings, found.labels.unknown, strict=True)
        if row.any()
    }
    labels = StudyLabels(found.species, unknown, found.unmatched, tuple(found.ambiguous), key)
    _require_use(study, place, labels)
    return labels


def _require_use(study: Study, place: Path, labels: StudyLabels) -> None:
    if not labels.species:
        strange = [*labels.unmatched, *labels.ambiguous][:3]
        named = f" (it names {', '.join(map(repr, strange))})" if strange else ""
        raise StudyError(
            f"{place} names no recording in {study.recordings_folder}{named}; its column of "
            "recordings must hold their file names."
        )
    taken = [name for name in labels.classes if name.casefold() in _RESERVED]
    if taken:
        raise StudyError(
            f"{place} lists a species {taken[0]!r}, which is what results call something else; "
            "give it another name."
        )
    if not labels.classes:
        raise StudyError(
            f"{place} lists no species for any recording, so there is nothing to learn; add the "
            "species that were heard."
        )
