"""What the server answers: calls, pictures, sounds, decisions, tables."""

import csv
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.review.made import KNOWN, features_of, make_results, many_items, with_features
from tests.review.serving import Served, wait_until

from raravis.formats import read_raven
from raravis.review import Verdict
from raravis.review.items import ReviewItems


def cards(served: Served, **query: Any) -> Any:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    answer = served.get(f"/api/cards?{text}")
    assert answer.status == 200, answer.body
    return answer.json


def test_the_page_comes_with_its_first_call_and_asks_nobody_else(served: Served) -> None:
    page = served.get("/")
    assert page.status == 200
    text = page.body.decode()
    assert "dawn chorus" in text
    # A script in the name of a folder is text.
    assert "<b>1</b>" not in text
    assert "http://" not in text
    assert "https://" not in text
    for name in ("main.js", "page.css", "icon.svg"):
        found = served.get(f"/static/{name}")
        assert found.status == 200
        assert b"https://" not in found.body
    assert served.get("/static/nothing.js").status == 404


def test_calls_come_in_the_order_of_their_queue_with_all_that_is_shown(served: Served) -> None:
    found = cards(served, queue="novel", n=60)
    novelty = [card["novelty"] for card in found["cards"]]
    assert novelty == sorted(novelty, reverse=True)
    assert (found["total"], len(found["cards"]), found["run"]) == (60, 60, "run-1")
    card = found["cards"][0]
    assert card["recording"].startswith("site <b>1</b>/")
    assert card["scores"][0][0] in KNOWN
    begin, end, low, high = card["frames"]["context"]
    assert begin <= card["begin_s"] < card["end_s"] <= end
    assert low <= card["low_hz"] < card["high_hz"] <= high
    one = cards(served, queue="control", call=card["id"])["cards"]
    assert [c["id"] for c in one] == [card["id"]]


def test_decided_calls_leave_the_queue_and_come_back_by_undo(served: Served) -> None:
    first, second, third = (card["id"] for card in cards(served, queue="novel", n=3)["cards"])
    answer = served.decide("t1", [first, second], "new", **{"class": "buzzer", "note": "two"})
    assert answer.status == 200
    state = answer.json["state"]
    assert state["counts"]["decided"] == 2
    assert {"name": "buzzer", "kind": "new", "count": 2} in state["classes"]
    assert cards(served, queue="novel", n=1)["cards"][0]["id"] == third
    assert len(cards(served, queue="novel", n=60, every=1)["cards"]) == 60
    again = served.decide("t1", [first, second], "new", **{"class": "buzzer", "note": "two"})
    assert again.json["act"] == answer.json["act"]
    undone = served.post(
        "/api/undo", {"ticket": "t2", "reviewer": "Ada", "undoes": answer.json["act"]}
    )
    assert undone.json["state"]["counts"]["decided"] == 0
    assert [c["id"] for c in cards(served, queue="novel", n=2)["cards"]] == [first, second]


def test_what_another_process_decides_is_taken_in_and_conflicts_are_shown(served: Served) -> None:
    from raravis.review import Decision, DecisionLog

    key = served.desk.stage.index.keys[7]
    with DecisionLog(served.log.path) as other:
        said = {"kind": "known", "class_name": KNOWN[0], "calls": [key]}
        other.add(Decision(ticket="theirs", reviewer="Bo", **said))
    assert 7 not in [c["id"] for c in cards(served, queue="novel", n=60)["cards"]]
    assert 7 in [c["id"] for c in cards(served, queue="novel", n=60, others=0)["cards"]]
    state = served.decide("t1", [7], "not_target").json["state"]
    assert state["counts"]["conflicts"] == 1
    (card,) = cards(served, queue="conflicts")["cards"]
    assert (card["id"], card["standing"]) == (7, "conflict")
    assert [(o["reviewer"], o["class"]) for o in card["others"]] == [("Bo", KNOWN[0])]
    assert served.desk.verdicts.settled(key) is None


def test_a_class_named_new_twice_is_one_class_and_a_known_one_stays_known(served: Served) -> None:
    served.decide("t1", [1], "new", **{"class": KNOWN[1]})
    served.decide("t2", [2], "new", **{"class": "buzzer"})
    state = served.decide("t3", [3], "new", **{"class": "buzzer"}).json["state"]
    assert [c["name"] for c in state["classes"]] == [*KNOWN, "buzzer"]
    assert served.log.acts()[0].kind == "known"


def test_pictures_and_sounds(served: Served) -> None:
    picture = served.get("/picture/3?run=run-1&view=context&colours=dark")
    assert picture.headers["content-type"] == "image/png"
    assert picture.body[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture.body[16:24])
    assert 300 < width <= 1000
    assert 100 < height < 400
    light = served.get("/picture/3?run=run-1&view=context&colours=light")
    assert light.body != picture.body
    sound = served.get("/sound/3?run=run-1&view=near")
    assert (sound.headers["content-type"], sound.body[:4]) == ("audio/wav", b"RIFF")
    assert int.from_bytes(sound.body[4:8], "little") == len(sound.body) - 8


@pytest.mark.parametrize(
    ("asked", "status", "slice_"),
    [
        ("bytes=0-", 206, slice(0, None)),
        ("bytes=100-199", 206, slice(100, 200)),
        ("bytes=-50", 206, slice(-50, None)),
        ("bytes=40-999999999", 206, slice(40, None)),
        ("bytes=999999999-", 416, None),
        ("bytes=5-2", 416, None),
        ("bytes=0-1,4-5", 416, None),
        ("sheep=0-1", 416, None),
        ("bytes=" + "9" * 5000 + "-", 416, None),
    ],
)
def test_ranges_of_a_sound(served: Served, asked: str, status: int, slice_: Any) -> None:
    whole = served.get("/sound/3?run=run-1&view=near").body
    part = served.get("/sound/3?run=run-1&view=near", range=asked)
    assert part.status == status
    if slice_ is None:
        assert part.headers["content-range"] == f"bytes */{len(whole)}"
    else:
        assert part.body == whole[slice_]


def test_a_recording_that_is_gone_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    results = make_results(tmp_path / "study", n_recordings=2)
    items = with_features(ReviewItems.from_study(results), features_of(results))
    for file in (tmp_path / "study" / "recordings").rglob("*.wav"):
        file.unlink()
    with Served(items, tmp_path / "d.sqlite") as served:
        assert served.get("/picture/0?run=run-1").status == 404
        assert served.get("/sound/0?run=run-1").status == 404
        assert cards(served, queue="novel")["cards"]


def test_examples_are_of_the_classes_that_score_best_and_decisions_confirm(served: Served) -> None:
    card = cards(served, queue="uncertain", n=1)["cards"][0]
    found = served.get(f"/api/examples?run=run-1&id={card['id']}").json
    assert [e["class"] for e in found] == [name for name, _ in card["scores"][:3]]
    assert card["id"] not in [e["id"] for e in found]
    labels = served.desk.stage.items.calls.label
    assert all(labels[e["id"]] == e["class"] for e in found)
    served.decide("t1", [found[0]["id"]], "known", **{"class": found[0]["class"]})
    again = served.get(f"/api/examples?run=run-1&id={card['id']}").json
    assert (again[0]["id"], again[0]["confirmed"]) == (found[0]["id"], True)


def test_tables_hold_every_decision_and_what_holds_now(served: Served) -> None:
    served.decide("t1", [4, 5], "new", **{"class": 'buz"z,er', "note": "a\nb"})
    served.decide("t2", [4], "known", **{"class": KNOWN[0]})
    served.decide("t3", [6], "not_target")
    made = _table(served.get("/export/decisions.csv").body)
    assert [row["class"] for row in made] == ['buz"z,er', 'buz"z,er', KNOWN[0], ""]
    assert {row["note"] for row in made} == {"a\nb", ""}
    now = {row["begin_s"]: row for row in _table(served.get("/export/calls.csv").body)}
    keys = served.desk.stage.index.keys
    assert now[str(keys[4].begin_s)]["class"] == KNOWN[0]
    assert now[str(keys[6].begin_s)]["verdict"] == "not_target"
    packed = zipfile.ZipFile(io.BytesIO(served.get("/export/raven.zip").body))
    assert all("/" not in name and ".." not in name for name in packed.namelist())
    calls = []
    for k, name in enumerate(packed.namelist()):
        path = served.log.path.with_name(f"{k}.txt")
        path.write_bytes(packed.read(name))
        table = read_raven(path)
        calls += list(zip(table.recording, table.begin_s, table.label, strict=True))
    expected = [(keys[i].recording, keys[i].begin_s) for i in (4, 5)]
    assert [(r, pytest.approx(b)) for r, b, _ in sorted(calls)] == sorted(expected)
    assert {label for *_, label in calls} == {KNOWN[0], 'buz"z,er'}


def _table(body: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body.decode(), newline="")))


def test_a_page_on_old_scores_may_still_decide_and_on_scores_that_are_gone_is_told(
    served: Served,
) -> None:
    items = served.desk.stage.items
    fields = {name: getattr(items, name) for name in items.__dataclass_fields__}
    turned = items.calls.take(range(len(items.calls))[::-1])
    served.desk.put(ReviewItems(**{**fields, "run": "run-2", "calls": turned}))
    assert served.decide("t1", [0], "not_target").status == 200
    assert served.desk.verdicts.settled(served.desk.stage.index.keys[-1]) == Verdict("not_target")
    gone = served.decide("t2", [0], run="run-0")
    assert gone.status == 409
    assert "load it again" in gone.json["error"]


def test_learning_in_the_background_says_what_moved(made: Any, tmp_path: Path) -> None:
    from raravis.progress import Progress

    fields = {name: getattr(made, name) for name in made.__dataclass_fields__}
    labels = [KNOWN[0] if label == "novel" else label for label in made.calls.label]
    n_novel = made.calls.label.count("novel")

    def learn(desk: Any, progress: Any) -> ReviewItems:
        progress(Progress("fit", 1, 2))
        calls = made.calls
        table = type(calls)(*(getattr(calls, n) for n in calls.__slots__[:5]), labels,
                            calls.novelty, calls.class_scores, calls.classes)  # fmt: skip
        return ReviewItems(**{**fields, "run": "run-2", "calls": table})

    with Served(made, tmp_path / "d.sqlite", retrain=learn) as served:
        assert served.get("/api/state").json["retraining"] == {"state": "idle"}
        assert served.post("/api/retrain", {}).json == {"started": True}
        wait_until(lambda: served.get("/api/state").json["retraining"]["state"] == "done")
        state = served.get("/api/state").json
        assert state["run"] == "run-2"
        assert state["retraining"]["moves"] == [["novel", KNOWN[0], n_novel]]
        assert state["retraining"]["novel_after"] == 0


def test_learning_that_fails_says_why_and_the_old_scores_stay(made: Any, tmp_path: Path) -> None:
    from raravis.errors import InputError

    def learn(desk: Any, progress: Any) -> ReviewItems:
        raise InputError("there is nothing to learn from; decide on something.")

    with Served(made, tmp_path / "d.sqlite", retrain=learn) as served:
        served.post("/api/retrain", {})
        wait_until(lambda: served.get("/api/state").json["retraining"]["state"] == "failed")
        state = served.get("/api/state").json
        assert (state["run"], "decide on something" in state["retraining"]["error"]) == (
            "run-1",
            True,
        )


def test_instances_without_sound_or_picture_show_their_features(tmp_path: Path) -> None:
    with Served(many_items(50), tmp_path / "d.sqlite") as served:
        card = cards(served, queue="novel", n=1)["cards"][0]
        assert len(card["vector"]) == 24
        assert min(card["vector"]) >= 0
        assert max(card["vector"]) <= 1
        assert card["frames"] == {}
        assert served.get(f"/picture/{card['id']}?run=many").status == 404


def test_no_calls_at_all_is_a_page_too(tmp_path: Path) -> None:
    with Served(many_items(0), tmp_path / "d.sqlite") as served:
        assert served.get("/").status == 200
        assert cards(served, queue="novel")["cards"] == []
        assert served.get("/export/raven.zip").status == 200
