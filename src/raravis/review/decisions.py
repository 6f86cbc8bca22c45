"""What people decided: a log in SQLite that is only ever added to.

Several processes may write to it at once. A decision that was confirmed is on the disk.
"""

import sqlite3
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from raravis.review.errors import ReviewError
from raravis.review.keys import CallKey

__all__ = ["Act", "ActKind", "Decision", "DecisionKind", "DecisionLog", "Undo"]

DecisionKind: TypeAlias = Literal["known", "new", "not_target", "uncertain"]
ActKind: TypeAlias = Literal["known", "new", "not_target", "uncertain", "note", "undo"]

FORMAT = 1
_APPLICATION = 0x52415241
_NAMED = frozenset({"known", "new"})
_LONGEST = {"reviewer": 100, "model": 200, "queue": 300, "ticket": 100, "class_name": 200}
_LONGEST_NOTE = 4000

_SCHEMA = """
CREATE TABLE acts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ticket TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    model TEXT NOT NULL,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL
        CHECK (kind IN ('known', 'new', 'not_target', 'uncertain', 'note', 'undo')),
    class_name TEXT CHECK ((class_name IS NOT NULL) = (kind IN ('known', 'new'))),
    note TEXT NOT NULL,
    undoes INTEGER REFERENCES acts (id) CHECK ((undoes IS NOT NULL) = (kind = 'undo'))
);
CREATE TABLE act_calls (
    act INTEGER NOT NULL REFERENCES acts (id),
    place INTEGER NOT NULL,
    recording TEXT NOT NULL,
    begin_s REAL NOT NULL,
    end_s REAL NOT NULL,
    low_hz REAL,
    high_hz REAL,
    PRIMARY KEY (act, place)
) WITHOUT ROWID;
"""

# Whoever opens the file with another program cannot change the past by mistake either. INSERT OR
# REPLACE deletes without asking the trigger for DELETE, hence the one for INSERT.
_GUARDS = """
CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'decisions are only ever added'); END;
CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'decisions are only ever added'); END;
CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})
BEGIN SELECT RAISE(ABORT, 'decisions are only ever added'); END;
"""
_SAME_ROW = {
    "acts": "id = NEW.id OR ticket = NEW.ticket",
    "act_calls": "act = NEW.act AND place = NEW.place",
}


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What somebody decides on one call or on many at once.

    Parameters
    ----------
    ticket : str
        Made by whoever asks, new for each decision: asked twice, it is carried out once.
    reviewer : str
    kind : {"known", "new", "not_target", "uncertain", "note"}
        A note by itself decides nothing.
    calls : sequence of CallKey
    class_name : str or None
        The class, for "known" and "new".
    note : str
    model, queue : str
        The model whose scores were shown, and the queue that the calls stood in.
    """

    ticket: str
    reviewer: str
    kind: ActKind
    calls: Sequence[CallKey]
    class_name: str | None = None
    note: str = ""
    model: str = ""
    queue: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(ActKind) or self.kind == "undo":
            raise ReviewError(
                f"kind is {self.kind!r}; pass 'known', 'new', 'not_target', 'uncertain' or 'note'."
            )
        for name in ("ticket", "reviewer"):
            _require_text(name, getattr(self, name))
        for name in ("model", "queue"):
            _require_short(name, getattr(self, name))
        self._require_class()
        _require_note(self.note)
        if not self.calls:
            raise ReviewError("there is no call to decide on; pass at least one.")
        object.__setattr__(self, "calls", tuple(self.calls))

    def _require_class(self) -> None:
        if self.kind in _NAMED:
            if self.class_name is None:
                raise ReviewError(f"kind is {self.kind!r}, but no class is named; name one.")
            _require_text("class_name", self.class_name)
        elif self.class_name is not None:
            raise ReviewError(
                f"kind is {self.kind!r}, but the class {self.class_name!r} is named; leave it out."
            )


@dataclass(frozen=True, kw_only=True)
class Undo:
    """Takes back an act, all calls of it, for good; ``undoes`` is its number."""

    ticket: str
    reviewer: str
    undoes: int
    model: str = ""
    queue: str = ""

    def __post_init__(self) -> None:
        for name in ("ticket", "reviewer"):
            _require_text(name, getattr(self, name))
        for name in ("model", "queue"):
            _require_short(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class Act:
    """A line of the log."""

    id: int
    ticket: str
    at: str
    reviewer: str
    model: str
    queue: str
    kind: ActKind
    class_name: str | None
    note: str
    undoes: int | None
    calls: tuple[CallKey, ...]


class DecisionLog:
    """The decisions of a study, oldest first; made if it is not there.

    Parameters
    ----------
    path : path
        The SQLite file; beside it stand its ``-wal`` and ``-shm`` while it is open.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        with _explained(self.path):
            self._connection = sqlite3.connect(
                self.path, timeout=20.0, isolation_level=None, check_same_thread=False
            )
        try:
            with _explained(self.path):
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file; the log is of no use afterwards."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> "DecisionLog":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # ------------------------------------------------------------------ write

    def add(self, decision: Decision) -> int:
        """Write a decision down and return its number; with a known ticket, the old number."""
        with self._writing() as connection:
            known = _number_of(connection, decision.ticket)
            if known is not None:
                return known
            act = _insert(connection, decision, decision.kind, decision.class_name, decision.note)
            rows = ((act, place, *key) for place, key in enumerate(decision.calls))
            connection.executemany("INSERT INTO act_calls VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        return act

    def undo(self, undo: Undo) -> int:
        """Take back an act of the same reviewer, and return the number of the new line."""
        with self._writing() as connection:
            known = _number_of(connection, undo.ticket)
            if known is not None:
                return known
            _require_undoable(connection, undo)
            return _insert(connection, undo, "undo", None, "", undo.undoes)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    # ------------------------------------------------------------------ read

    def acts(self, *, after: int = 0) -> tuple[Act, ...]:
        """Return the lines with a number above ``after``, oldest first."""
        with self._lock, _explained(self.path):
            # One look at the file: a line and its calls are of the same moment.
            self._connection.execute("BEGIN")
            try:
                rows = self._connection.execute(
                    "SELECT * FROM acts WHERE id > ? ORDER BY id", (after,)
                ).fetchall()
                found = self._connection.execute(
                    "SELECT act, recording, begin_s, end_s, low_hz, high_hz FROM act_calls "
                    "WHERE act > ? ORDER BY act, place",
                    (after,),
                ).fetchall()
            finally:
                self._connection.execute("COMMIT")
        return tuple(_acts(rows, found))

    @property
    def last(self) -> int:
        """The number of the last line; 0 if there is none."""
        with self._lock, _explained(self.path):
            row = self._connection.execute("SELECT COALESCE(MAX(id), 0) FROM acts").fetchone()
        return int(row[0])

    def __len__(self) -> int:
        with self._lock, _explained(self.path):
            row = self._connection.execute("SELECT COUNT(*) FROM acts").fetchone()
        return int(row[0])

    # ------------------------------------------------------------------ the file

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = FULL")
        execute("PRAGMA foreign_keys = ON")
        execute("BEGIN IMMEDIATE")
        try:
            version = int(execute("PRAGMA user_version").fetchone()[0])
            if version == 0:
                self._create()
        finally:
            execute("COMMIT")
        if version > FORMAT:
            raise ReviewError(
                f"{self.path} has format {version}, but this raravis reads up to {FORMAT}; update "
                "raravis."
            )

    def _create(self) -> None:
        tables = self._connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        if tables:
            raise ReviewError(
                f"{self.path} is a data base, but not one of decisions; move it elsewhere."
            )
        script = _SCHEMA + "".join(_GUARDS.format(table=t, same=s) for t, s in _SAME_ROW.items())
        for statement in _statements(script):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")


def _statements(script: str) -> Iterator[str]:
    """Cut a script into statements, for a transaction that may not be left as it runs."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _insert(
    connection: sqlite3.Connection,
    what: Decision | Undo,
    kind: ActKind,
    class_name: str | None,
    note: str,
    undoes: int | None = None,
) -> int:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    row = (what.ticket, at, what.reviewer, what.model, what.queue, kind, class_name, note, undoes)
    with closing(connection.cursor()) as cursor:
        cursor.execute(
            "INSERT INTO acts (ticket, at, reviewer, model, queue, kind, class_name, note, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        return int(cursor.lastrowid or 0)


def _number_of(connection: sqlite3.Connection, ticket: str) -> int | None:
    row = connection.execute("SELECT id FROM acts WHERE ticket = ?", (ticket,)).fetchone()
    return None if row is None else int(row[0])


def _require_undoable(connection: sqlite3.Connection, undo: Undo) -> None:
    row = connection.execute(
        "SELECT reviewer, kind, EXISTS (SELECT 1 FROM acts WHERE undoes = a.id) FROM acts a "
        "WHERE id = ?",
        (undo.undoes,),
    ).fetchone()
    if row is None:
        raise ReviewError(f"there is no decision {undo.undoes}; name one that was made.")
    reviewer, kind, undone = row
    if reviewer != undo.reviewer:
        raise ReviewError(
            f"decision {undo.undoes} is {reviewer}'s; decide otherwise yourself instead of "
            "undoing it."
        )
    if kind == "undo" or undone:
        raise ReviewError(f"decision {undo.undoes} is undone already; there is nothing to undo.")


def _acts(rows: Iterable[Sequence[Any]], found: Iterable[Sequence[Any]]) -> Iterator[Act]:
    calls: dict[int, list[CallKey]] = {}
    for act, *key in found:
        calls.setdefault(act, []).append(CallKey(*key))
    for row in rows:
        fields: tuple[Any, ...] = (*row, tuple(calls.get(row[0], ())))
        yield Act(*fields)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says into an error that tells what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise ReviewError(
            f"the decisions in {path} cannot be read or written ({error}); see to the space and "
            "the rights in its folder, which has to be on a disk of this machine."
        ) from error


# ---------------------------------------------------------------------- texts, checked


def _require_text(name: str, value: Any) -> None:
    _require_short(name, value)
    if not value.strip():
        raise ReviewError(f"{name} is empty; give it a text.")
    if value != value.strip():
        raise ReviewError(f"{name} is {value!r}; leave out the space around it.")


def _require_short(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ReviewError(f"{name} is {value!r}; pass text.")
    if len(value) > _LONGEST[name]:
        raise ReviewError(
            f"{name} has {len(value)} characters; make it {_LONGEST[name]} at the most."
        )
    _require_characters(name, value, "")


def _require_note(note: Any) -> None:
    if not isinstance(note, str) or len(note) > _LONGEST_NOTE:
        raise ReviewError(f"a note is text of {_LONGEST_NOTE} characters at the most; shorten it.")
    _require_characters("note", note, "\n\t")


def _require_characters(name: str, value: str, allowed: str) -> None:
    for character in value:
        # Cc: controls; Cs: halves of surrogate pairs, which no file can hold.
        if character not in allowed and unicodedata.category(character) in {"Cc", "Cs"}:
            raise ReviewError(f"{name} holds {character!r}, which cannot be shown; leave it out.")
