"""Where lists of species come from: tables of three shapes, and the labels of calls."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from warnings import warn

from raravis._checks import some
from raravis.errors import InputError, RaravisWarning
from raravis.formats._columns import recording_of
from raravis.formats._folders import call_files, placed
from raravis.formats._parquet import is_parquet, read_parquet
from raravis.formats._sheet import Sheet, read_csv
from raravis.formats.birdnet import read_detections
from raravis.formats.recognise import read_any, recognise
from raravis.labels import ABSENT, PRESENT, UNKNOWN

__all__ = ["Found", "Source", "merge"]

Found = dict[str, dict[str, int]]

_RECORDING = (
    "recording",
    "recordings",
    "file",
    "filename",
    "file name",
    "begin file",
    "audio",
    "audio file",
    "audiofile",
    "audiofilename",
    "filepath",
    "file path",
    "path",
    "notated path",
)
_SPECIES = (
    "species",
    "labels",
    "label",
    "classes",
    "class",
    "species list",
    "annotation",
    "label:species",
)
_MARKS = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "present"), int(PRESENT)),
    **dict.fromkeys(("0", "0.0", "false", "no", "absent"), int(ABSENT)),
    **dict.fromkeys(("", "na", "nan", "?", "unknown"), int(UNKNOWN)),
}


_SEPARATORS = (";", ",", "|")


def merge(status: dict[str, int], other: Mapping[str, int]) -> None:
    """Add what another row says of the same recording: present outweighs absent, that unknown."""
    for species, mark in other.items():
        known = status.get(species, int(UNKNOWN))
        status[species] = mark if known == UNKNOWN or mark == PRESENT else known


@dataclass(frozen=True, slots=True)
class Source:
    """How to read lists of species; see `raravis.formats.read_species`."""

    recording_column: str | None
    species_column: str | None
    separator: str
    min_confidence: float

    def read(self, path: str | PathLike[str]) -> tuple[Found, tuple[str, ...]]:
        """Return what a file or folder says of each recording, and what in it says nothing."""
        if Path(path).is_dir():
            return self._read_folder(Path(path))
        if self.recording_column is not None or self.species_column is not None:
            return self._read_table(path)
        # Times in other tables may be anything, such as the hours of a survey.
        kind = recognise(path, foreign=False)
        return self._read_table(path) if kind == "table" else (self._heard(path), ())

    def _read_folder(self, folder: Path) -> tuple[Found, tuple[str, ...]]:
        files, ignored = call_files(folder)
        found: Found = {}
        for path in files:
            for name, status in self._heard(path).items():
                merge(found.setdefault(placed(name, path, folder), {}), status)
        return found, ignored

    def _heard(self, path: str | PathLike[str]) -> Found:
        """Return the labels of calls; a file without calls is a recording without species."""
        if recognise(path) == "birdnet":
            calls, recordings = read_detections(path, min_confidence=self.min_confidence)
        else:
            calls = read_any(path)
            recordings = calls.recordings
        found: Found = {name: {} for name in recordings or (recording_of(path),)}
        for name, label in zip(calls.recording, calls.label, strict=True):
            if label is not None and label.strip():
                found[name][label.strip()] = int(PRESENT)
        return found

    def _read_table(self, path: str | PathLike[str]) -> tuple[Found, tuple[str, ...]]:
        known = [name for name in (self.recording_column, self.species_column) if name]
        sheet = (
            read_parquet(path)
            if is_parquet(path)
            else read_csv(path, (*known, *_RECORDING, *_SPECIES))
        )
        recording = _column(sheet, self.recording_column, _RECORDING, "recording_column")
        species = sheet.find(*_SPECIES)
        if self.species_column is not None:
            species = _column(sheet, self.species_column, (), "species_column")
        names = _recordings(sheet, recording)
        if species is None or species == recording:
            return _wide(sheet, names, recording)
        return self._lists(sheet, names, species), ()

    def _lists(self, sheet: Sheet, names: Iterable[str], species: int) -> Found:
        found: Found = {}
        cells = sheet.texts(species)
        self._warn_of_separator(sheet, cells)
        for name, cell in zip(names, cells, strict=True):
            listed = (part.strip() for part in cell.split(self.separator))
            merge(found.setdefault(name, {}), {part: int(PRESENT) for part in listed if part})
        return found

    def _warn_of_separator(self, sheet: Sheet, cells: Iterable[str]) -> None:
        """Warn if all lists look like those of another separator."""
        text = "\n".join(cells)
        other = next((mark for mark in _SEPARATORS if mark in text), None)
        if self.separator not in text and other is not None:
            warn(
                f"{sheet.path} lists species with {other!r} in their names and never with "
                f"{self.separator!r} between them; if {other!r} stands between species, pass "
                f"separator={other!r} (raravis label: --separator {other!r}).",
                RaravisWarning,
                stacklevel=5,
            )


def _column(sheet: Sheet, wanted: str | None, usual: Iterable[str], option: str) -> int:
    found = sheet.find(*((wanted,) if wanted is not None else usual))
    if found is None:
        named = repr(wanted) if wanted is not None else f"of a usual name ({some(usual)})"
        raise InputError(
            f"{sheet.path} has no column {named}; its columns are {some(sheet.header, limit=20)}. "
            f"Name the right one as {option}."
        )
    return found


def _recordings(sheet: Sheet, position: int) -> list[str]:
    names = [cell.strip() for cell in sheet.texts(position)]
    if "" in names:
        raise InputError(
            f"{sheet.where(names.index(''))} names no recording under {sheet.header[position]!r}; "
            "fill the cell in, or delete the row."
        )
    return names


def _wide(sheet: Sheet, names: list[str], recording: int) -> tuple[Found, tuple[str, ...]]:
    """Read columns of 1, 0 and nothing; other columns say nothing of species."""
    found: Found = {name: {} for name in names}
    ignored: list[str] = []
    for position, title in enumerate(sheet.header):
        if position == recording:
            continue
        marks = [_MARKS.get(cell.strip().lower()) for cell in sheet.texts(position)]
        if not any(mark for mark in marks):
            ignored.append(title)
            continue
        if None in marks:
            row = marks.index(None)
            raise InputError(
                f"{sheet.where(row)} has {sheet.texts(position)[row]!r} under {title!r}, where "
                "other cells are 1 or 0; write 1 for present, 0 for absent and nothing for "
                "unknown, leave the column out, or name the one that lists species as "
                "species_column."
            )
        for name, mark in zip(names, marks, strict=True):
            merge(found[name], {title.strip(): int(mark or 0)})
    if len(ignored) == len(sheet.header) - 1 and len(sheet):
        raise InputError(
            f"{sheet.path} has no column of species among {some(sheet.header, limit=20)}, neither "
            f"one with lists ({some(_SPECIES)}) nor ones with 1 and 0; name it as species_column."
        )
    return found, tuple(ignored)
