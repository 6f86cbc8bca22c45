"""What is learned from decisions, and what the control sample says of a model."""

import json
import os
import signal
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import numpy as np
import pytest
from tests.review.made import NearestMean
from tests.review.serving import Served, wait_until
from typer.testing import CliRunner

from raravis import Bags, KernelScorer
from raravis.cli.main import app
from raravis.datasets import make_soundscapes
from raravis.datasets.voices import SPECIES
from raravis.errors import InputError
from raravis.labels import BagLabels
from raravis.review import CallIndex, CallKey, Decision, DecisionLog, ReviewItems, Verdicts, keys_of
from raravis.review.control import Share, judge
from raravis.review.learning import (
    bags_retrainer,
    decided_calls,
    read_decisions,
    study_retrainer,
    with_decisions,
)
from raravis.review.queues import control_sample, control_size
from raravis.study import Settings, Study, StudyResults, steps

LISTED, HIDDEN = "Amber whistler", "Copper triller"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study that has been run; decisions may be added to it."""
    folder = tmp_path_factory.mktemp("learning")
    heard = tuple(one for one in SPECIES if one.name in {LISTED, HIDDEN})
    made = make_soundscapes(
        folder / "recordings", n_recordings=10, duration_s=6, species=heard, snr_db=(18, 25)
    )
    lines = [f"{name},{LISTED if LISTED in made.species[name] else ''}" for name in made.recordings]
    (folder / "species.csv").write_text("recording,species\n" + "\n".join(lines), encoding="utf-8")
    settings = Settings(recordings=str(made.folder), labels=str(folder / "species.csv"))
    study = Study.create(folder / "study", settings)
    steps.run(study, workers=1)
    return study


def keys(n: int) -> list[CallKey]:
    return [CallKey("a", float(i), i + 1.0) for i in range(n)]


def test_uncertain_contested_lost_and_control_calls_teach_nothing(tmp_path: Path) -> None:
    all_keys = keys(40)
    sample = {int(p) for p in control_sample(all_keys, size=control_size(40))}
    free = [p for p in range(40) if p not in sample]
    with DecisionLog(tmp_path / "d.sqlite") as log:

        def say(positions: list[int], kind: Any, name: str | None = None, who: str = "Ada") -> None:
            chosen = [all_keys[p] for p in positions]
            ticket = f"{who}{kind}{positions}"
            log.add(Decision(ticket=ticket, reviewer=who, kind=kind, class_name=name, calls=chosen))

        say(free[:2], "new", "tui")
        say(free[6:10], "new", "kea")
        say(free[2:3], "not_target")
        say(free[3:4], "uncertain")
        say(free[4:5], "known", "wren")
        say(free[4:5], "known", "owl", "Bo")
        say(sorted(sample), "known", "wren")
        log.add(
            Decision(ticket="gone", reviewer="Ada", kind="not_target", calls=[CallKey("b", 0, 1)])
        )
        found = decided_calls(Verdicts(log.acts()), CallIndex(all_keys))
        assert found == dict.fromkeys((*free[:3], *free[6:10])), "two tuis, four keas"
        say(free[10:11], "known", "kea")
        found = decided_calls(Verdicts(log.acts()), CallIndex(all_keys))
    assert len(sample) == 4
    assert found == dict.fromkeys(free[:3]) | dict.fromkeys(free[6:11], "kea")


def test_decided_instances_are_bags_of_one_of_which_all_is_known() -> None:
    bags = Bags.from_list([[[0.0], [5.0]], [[1.0]], []], keys=["a", "b", "c"])
    labels = BagLabels.from_sets([{"wren"}, None, set()], keys=["a", "b", "c"])
    more, known = with_decisions(bags, labels, {0: "wren", 1: "owl", 2: None})
    assert [list(more[k].ravel()) for k in range(more.n_bags)] == [[0, 5], [1], [], [0], [5], [1]]
    assert known.to_sets()[3:] == [{"wren"}, {"owl"}, set()]
    # The owl was found in bag a; of the other bags nobody knows.
    owl = known.classes.index("owl")
    assert known.present[:, owl].tolist() == [True, False, False, False, True, False]
    assert known.unknown[:, owl].tolist() == [False, True, True, False, False, False]
    assert known.unlabelled.tolist() == [False, True, False, False, False, False]
    with pytest.raises(InputError, match="no instance 3"):
        with_decisions(bags, labels, {3: "owl"})


def test_a_new_class_is_absent_where_nothing_resembles_it() -> None:
    far, near = [[9.0, 9.0]], [[0.3, 0.0], [9.0, 9.0]]
    bags = Bags.from_list([[[0.1 * k, 0.0] for k in range(6)], far, near, []])
    labels = BagLabels.from_sets([set(), {"wren"}, {"wren"}, None])
    _, known = with_decisions(bags, labels, dict.fromkeys(range(5), "kea"))
    assert known.status[:4, known.classes.index("kea")].tolist() == [1, -1, 0, -1]
    # Four examples do not tell yet how far apart the calls of a class are.
    _, known = with_decisions(bags, labels, dict.fromkeys(range(4), "kea"))
    assert known.status[:4, known.classes.index("kea")].tolist() == [1, 0, 0, 0]


def test_the_page_learns_from_bags_and_a_new_class_becomes_known(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    centre = {"wren": (0, 0), "owl": (4, 0), "tui": (2, 4)}
    kinds = [rng.choice(["wren", "owl", "tui"], 4) for _ in range(30)]
    bags = Bags.from_list([[rng.normal(centre[k], 0.3) for k in row] for row in kinds])
    labels = BagLabels.from_sets([set(row) - {"tui"} for row in kinds])
    truth = np.concatenate(kinds)
    model = KernelScorer().fit(bags, labels)
    items = ReviewItems.from_bags(bags, model, labels=labels)
    retrain = bags_retrainer(
        bags,
        labels,
        KernelScorer,
        make_items=lambda m: ReviewItems.from_bags(bags, m, labels=labels),
    )
    with Served(items, tmp_path / "d.sqlite", retrain=retrain) as served:
        tuis = [int(p) for p in served.desk.queue("novel").order if truth[p] == "tui"][:12]
        said = {"run": items.run, "class": "tui"}
        assert served.decide("t1", tuis, "new", **said).status == 200
        assert served.post("/api/retrain", {}).json == {"started": True}
        wait_until(lambda: served.get("/api/state").json["retraining"]["state"] != "running")
        state = served.get("/api/state").json
        assert state["retraining"]["new_classes"] == ["tui"]
        assert {"name": "tui", "kind": "known", "count": 12} in state["classes"]
        assert state["counts"]["decided"] == 12
        right = np.array(served.desk.stage.items.calls.label)[truth == "tui"] == "tui"
        assert right.mean() > 0.7


def test_the_control_sample_tells_precision_and_recall_with_intervals(tmp_path: Path) -> None:
    # 0 to 9 are called novel, of which 0 to 5 are tuis, 6 and 7 noise, 8 and 9 wrens.
    means = [[0.0]]
    X = np.r_[np.full(10, 9.0), np.zeros(10)][:, None]
    items = ReviewItems.from_bags(Bags.from_list([X]), NearestMean(("wren",), means, -1.0))
    index = CallIndex([CallKey("0", float(i), float(i)) for i in range(20)])
    with DecisionLog(tmp_path / "d.sqlite") as log:
        truth = [("new", "tui")] * 6 + [("not_target", None)] * 2 + [("known", "wren")] * 10
        truth += [("new", "tui"), ("uncertain", None)]
        for k, (kind, name) in enumerate(truth):
            said = {"kind": kind, "class_name": name, "calls": [index.keys[k]]}
            log.add(Decision(ticket=f"t{k}", reviewer="Ada", **said))
        found = judge(items, index, Verdicts(log.acts()), range(20))
    assert (found.n_sample, found.n_decided) == (20, 19)
    assert (found.precision.hits, found.precision.n) == (8, 10)
    assert (found.new_class.hits, found.new_class.n) == (6, 10)
    assert (found.recall.hits, found.recall.n) == (6, 7)
    assert (found.labels.hits, found.labels.n) == (8, 9)
    # The exact interval for 8 of 10, as tables have it.
    assert (found.precision.low, found.precision.high) == (0.444, 0.975)
    assert Share.of(0, 0) == Share(0, 0, 0.0, 1.0)


def test_a_study_learns_what_was_decided_on_it(study: Study, tmp_path: Path) -> None:
    results = StudyResults.load(study)
    items = ReviewItems.from_study(results)
    assert read_decisions(study, results.calls) == {}
    size = control_size(len(items.calls))
    sample = set(control_sample(keys_of(items.calls), size=size).tolist())
    chosen = [int(p) for p in results.by_novelty if int(p) not in sample][:8]
    with Served(items, study.decisions_path, retrain=study_retrainer(str(study.folder))) as served:
        served.decide("t1", chosen, "new", run=results.run, **{"class": HIDDEN})
        served.post("/api/retrain", {})
        wait_until(
            lambda: served.get("/api/state").json["retraining"]["state"] != "running", seconds=60
        )
        state = served.get("/api/state").json
        assert state["retraining"]["state"] == "done", state["retraining"]
        assert state["retraining"]["new_classes"] == [HIDDEN]
        assert state["run"] != results.run
    again = StudyResults.load(study)
    assert again.model.n_decisions == 8
    assert [again.calls.label[p] for p in chosen] == [HIDDEN] * 8
    # The command line learns the same, and stops to when told to.
    told = CliRunner().invoke(app, ["fit", str(study.folder), "--json", "--workers", "1"])
    assert json.loads(told.stdout)["new"] is False
    told = CliRunner().invoke(app, ["fit", str(study.folder), "--without-decisions", "--json"])
    assert json.loads(told.stdout)["decisions"] == 0
    told = CliRunner().invoke(app, ["fit", str(study.folder), "--with-decisions", "--json"])
    assert json.loads(told.stdout)["decisions"] == 8


def test_calibrate_and_score_say_what_the_control_sample_implies(study: Study) -> None:
    def told(verb: str, *options: str) -> Any:
        found = CliRunner().invoke(app, [verb, str(study.folder), *options])
        assert found.exit_code == 0, found.stderr
        return found.stdout

    told("score")
    assert "control" not in json.loads(told("calibrate", "--json"))
    results = StudyResults.load(study)
    index = CallIndex(keys_of(results.calls))
    sample = control_sample(index.keys, size=control_size(len(index.keys))).tolist()
    novel = [p for p in sample if results.calls.label[p] == "novel"]
    with DecisionLog(study.decisions_path) as log:
        for p in sample:
            said = (
                {"kind": "new", "class_name": "stranger"}
                if p in novel
                else {"kind": "known", "class_name": results.calls.label[p]}
            )
            log.add(Decision(ticket=f"c{p}", reviewer="Ada", calls=[index.keys[p]], **said))
    for verb in ("calibrate", "score"):
        report = json.loads(told(verb, "--json"))["control"]
        assert report["n_decided"] == len(sample)
        assert (report["labels"]["hits"], report["labels"]["n"]) == (len(sample) - len(novel),) * 2
        assert report["precision"]["n"] == report["recall"]["n"] == len(novel)
        assert f"By {len(sample)} random control calls: " in " ".join(told(verb).split())
    # A model that has scored nothing yet is judged by nothing.
    with DecisionLog(study.decisions_path) as log:
        key = keys_of(results.calls)[next(p for p in range(len(results.calls)) if p not in sample)]
        log.add(Decision(ticket="more", reviewer="Ada", calls=[key], kind="not_target"))
    told("fit", "--with-decisions")
    assert "control" not in json.loads(told("calibrate", "--json"))


# ---------------------------------------------------------------------- the command


@contextmanager
def command(study: Study, *options: str) -> Iterator[Any]:
    """Run raravis review, and yield the process and the address that it prints."""
    run = "from raravis.cli.main import main; main()"
    line = [sys.executable, "-c", run, "review", str(study.folder), "--no-open", "--json", *options]
    with Popen(line, stdout=PIPE, stderr=PIPE, text=True, env=os.environ) as process:  # noqa: S603
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            read = process.stdout.readline()
            assert read, process.stderr.read() if process.stderr else ""
            text += read
        try:
            yield process, json.loads(text)
        finally:
            process.kill()


def write(told: Any, ticket: str) -> Any:
    """Open the address as a browser does, and decide on the first call."""
    jar = CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    text = opener.open(told["url"], timeout=20).read().decode()
    start = json.loads(text.split('id="start">')[1].split("</script>")[0])
    said = {"ticket": ticket, "reviewer": "Ada", "kind": "uncertain"}
    said |= {"calls": [start["first"]["cards"][0]["id"]], "run": start["first"]["run"]}
    base = told["url"].split("/?")[0]
    headers = {"content-type": "application/json", "origin": base}
    headers["x-raravis-review"] = start["write_token"]
    asked = urllib.request.Request(f"{base}/api/decide", json.dumps(said).encode(), headers)  # noqa: S310
    return start, json.loads(opener.open(asked, timeout=20).read())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_the_command_serves_until_stopped_and_a_kill_loses_nothing(study: Study) -> None:
    with command(study, "--name", "Grace") as (process, told):
        start, _ = write(told, "one")
        assert start["state"]["reviewer"] == "Grace"
        process.send_signal(signal.SIGKILL)
    with command(study) as (process, again):
        assert again["decisions"] == told["decisions"] + 1
        assert again["url"] == told["url"], "a page that is open goes on"
        write(again, "two")
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    told = CliRunner().invoke(app, ["review", str(study.folder), "--port", "99999", "--no-open"])
    assert "from 1 to 65535" in told.stderr
    with DecisionLog(study.decisions_path) as log:
        assert [act.ticket for act in log.acts()][-2:] == ["one", "two"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_page_that_is_open_outlives_a_server_that_is_killed(browser: Any, study: Study) -> None:
    with command(study) as (process, told):
        tab = browser.new_page()
        tab.goto(told["url"])
        tab.wait_for_selector("html[data-shown]")
        tab.keyboard.press("u")
        tab.wait_for_function("() => document.querySelector('#recent li button')")
        process.send_signal(signal.SIGKILL)
        process.wait(15)
        before = tab.get_attribute("html", "data-call")
        tab.keyboard.press("x")
        tab.wait_for_selector(".notice.offline")
        tab.wait_for_function("b => (document.documentElement.dataset.call ?? b) !== b", arg=before)
    with command(study), DecisionLog(study.decisions_path) as log:
        wait_until(lambda: len(log) == told["decisions"] + 2)
        tab.wait_for_selector(".notice", state="hidden")
        assert [act.kind for act in log.acts()][-2:] == ["uncertain", "not_target"]
    tab.close()


def test_what_cannot_be_reviewed_is_told(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["review", str(tmp_path)])
    assert told.exit_code == 2
    assert "is not a study" in told.stderr
    (tmp_path / "recordings").mkdir()
    fresh = Study.create(tmp_path / "fresh", Settings(recordings=str(tmp_path / "recordings")))
    told = CliRunner().invoke(app, ["review", str(fresh.folder), "--no-open"])
    assert told.exit_code == 2
    assert "have not been scored" in told.stderr
