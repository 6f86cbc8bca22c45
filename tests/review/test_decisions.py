"""The log: only ever added to, by several at once, and nothing that was confirmed is lost."""

import multiprocessing
import os
import signal
import sqlite3
import sys
import threading
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from raravis.review import CallKey, Decision, DecisionLog, ReviewError, Undo

WREN = CallKey("a.wav", 0.5, 1.25, 2000.0, 4000.5)
OWL = CallKey("b/ö.wav", 3.0, 3.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.sqlite"


def decided(ticket: str = "t1", **changes: Any) -> Decision:
    given = {"reviewer": "Ada", "kind": "known", "class_name": "wren", "calls": [WREN]}
    return Decision(ticket=ticket, **{**given, **changes})


def test_what_was_decided_is_read_back_as_it_was(path: Path) -> None:
    with DecisionLog(path) as log:
        number = log.add(decided(note="faint\ntwice", model="m1", queue="novel", calls=[WREN, OWL]))
    with DecisionLog(path) as log:
        (act,) = log.acts()
    assert (act.id, act.ticket, act.reviewer, act.kind) == (number, "t1", "Ada", "known")
    assert (act.class_name, act.note, act.model, act.queue) == (
        "wren",
        "faint\ntwice",
        "m1",
        "novel",
    )
    assert act.calls == (WREN, OWL)
    assert act.at.endswith("+00:00")


def test_a_decision_asked_for_twice_is_made_once(path: Path) -> None:
    with DecisionLog(path) as log:
        assert log.add(decided()) == log.add(decided())
        assert len(log) == 1
        undo = Undo(ticket="t2", reviewer="Ada", undoes=1)
        assert log.undo(undo) == log.undo(undo) == 2
        assert len(log) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE acts SET class_name = 'owl'",
        "DELETE FROM acts",
        "INSERT OR REPLACE INTO acts SELECT * FROM acts",
        "UPDATE act_calls SET recording = 'c.wav'",
        "DELETE FROM act_calls",
        "INSERT OR REPLACE INTO act_calls SELECT * FROM act_calls",
    ],
)
def test_the_past_cannot_be_changed(path: Path, statement: str) -> None:
    with DecisionLog(path) as log:
        log.add(decided())
        before = log.acts()
        other = sqlite3.connect(path)
        with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
            other.execute(statement)
        other.close()
        assert log.acts() == before


def test_undo_is_a_line_of_its_own_and_belongs_to_who_decided(path: Path) -> None:
    with DecisionLog(path) as log:
        log.add(decided())
        with pytest.raises(ReviewError, match="is Ada's; decide otherwise"):
            log.undo(Undo(ticket="t2", reviewer="Bo", undoes=1))
        with pytest.raises(ReviewError, match="no decision 7"):
            log.undo(Undo(ticket="t3", reviewer="Ada", undoes=7))
        log.undo(Undo(ticket="t4", reviewer="Ada", undoes=1))
        with pytest.raises(ReviewError, match="undone already"):
            log.undo(Undo(ticket="t5", reviewer="Ada", undoes=1))
        with pytest.raises(ReviewError, match="undone already"):
            log.undo(Undo(ticket="t6", reviewer="Ada", undoes=2))
        assert [(act.kind, act.undoes) for act in log.acts()] == [("known", None), ("undo", 1)]
        # What failed left nothing open behind: the log goes on.
        assert log.add(decided("t7")) == 3


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kind": "maybe"}, "kind is 'maybe'"),
        ({"kind": "undo"}, "kind is 'undo'"),
        ({"class_name": None}, "no class is named"),
        ({"class_name": " "}, "class_name is empty"),
        ({"class_name": "wren "}, "space around"),
        ({"class_name": "a\x00b"}, "cannot be shown"),
        ({"class_name": "x" * 201}, "201 characters"),
        ({"kind": "uncertain"}, "leave it out"),
        ({"calls": []}, "no call"),
        ({"reviewer": ""}, "reviewer is empty"),
        ({"reviewer": 7}, "pass text"),
        ({"note": "x" * 4001}, "shorten"),
        ({"note": "\x1b[2J"}, "cannot be shown"),
        ({"ticket": "t" * 101}, "101 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ReviewError, match=says):
        decided(**changes)


def test_names_are_data_and_never_statements(path: Path) -> None:
    name = "Robert'); DROP TABLE acts;--<script>alert(1)</script>"
    with DecisionLog(path) as log:
        log.add(decided(class_name=name, calls=[CallKey("../../etc/passwd'", 0.0, 1.0)]))
        (act,) = log.acts()
    assert (act.class_name, act.calls[0].recording) == (name, "../../etc/passwd'")


def test_another_data_base_or_a_newer_one_is_left_alone(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE birds (name)")
    other.commit()
    other.close()
    with pytest.raises(ReviewError, match="not one of decisions"):
        DecisionLog(tmp_path / "other.sqlite")
    newer = sqlite3.connect(tmp_path / "newer.sqlite")
    newer.execute("PRAGMA user_version = 2")
    newer.close()
    with pytest.raises(ReviewError, match="update raravis"):
        DecisionLog(tmp_path / "newer.sqlite")
    (tmp_path / "torn.sqlite").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000)
    with pytest.raises(ReviewError, match="cannot be read or written"):
        DecisionLog(tmp_path / "torn.sqlite")


def _write_many(path: Path, who: str, n: int) -> None:
    with DecisionLog(path) as log:
        for k in range(n):
            log.add(decided(f"{who}{k}", reviewer=who, calls=[WREN, OWL]))


def test_threads_of_one_process_and_several_processes_write_at_once(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_write_many, args=(path, who, 40)) for who in ("P", "Q")]
    for other in others:
        other.start()
    with DecisionLog(path) as log:

        def work(who: str) -> None:
            for k in range(40):
                log.add(decided(f"{who}{k}", reviewer=who))

        threads = [threading.Thread(target=work, args=(who,)) for who in ("R", "S")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for other in others:
            other.join()
            assert other.exitcode == 0
        acts = log.acts()
    assert len(acts) == 160
    assert {len(act.calls) for act in acts if act.reviewer in "PQ"} == {2}
    for who in "PQRS":
        mine = [act.ticket for act in acts if act.reviewer == who]
        assert mine == [f"{who}{k}" for k in range(40)]


_WRITER = """
import sys
from raravis.review import CallKey, Decision, DecisionLog
log = DecisionLog(sys.argv[1])
for k in range(100000):
    calls = [CallKey("a.wav", float(i), i + 1.0) for i in range(20)]
    log.add(Decision(ticket=f"t{k}", reviewer="Ada", kind="uncertain", calls=calls))
    print(k, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_kill_loses_nothing_that_was_confirmed_and_leaves_no_half_decision(path: Path) -> None:
    command = [sys.executable, "-c", _WRITER, str(path)]
    with Popen(command, stdout=PIPE, env=os.environ) as writer:  # noqa: S603  # our own
        assert writer.stdout is not None
        for _ in range(30):
            confirmed = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        for line in writer.stdout:
            confirmed = int(line)
    with DecisionLog(path) as log:
        acts = log.acts()
    assert len(acts) in (confirmed + 1, confirmed + 2)
    assert {len(act.calls) for act in acts} == {20}
