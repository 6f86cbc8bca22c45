"""The page in a real browser: every way to decide, and what happens when things go wrong."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.review.made import KNOWN, many_items
from tests.review.serving import Served, wait_until

from raravis.review.items import ReviewItems


class Page:
    """A tab, and what may not happen in it."""

    def __init__(self, context: Any, url: str) -> None:
        self.tab = context.new_page()
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        host = url.split("/?", maxsplit=1)[0]
        self.tab.on("console", self._console)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on(
            "request",
            lambda asked: None if asked.url.startswith(host) else self.elsewhere.append(asked.url),
        )
        self.tab.goto(url)
        self.tab.wait_for_selector("html[data-shown]")

    def _console(self, message: Any) -> None:
        # The browser itself writes down when a server is not there.
        if message.type in ("error", "warning") and "ERR_CONNECTION" not in message.text:
            self.complaints.append(message.text)

    @property
    def call(self) -> int:
        """The call that is shown, once one is."""
        self.tab.wait_for_selector("html[data-call]")
        return int(self.tab.get_attribute("html", "data-call"))

    def press(self, key: str) -> None:
        """Press a key, and wait for another call if that is what it leads to."""
        self.tab.keyboard.press(key)

    def moved(self, before: int) -> int:
        self.tab.wait_for_function(
            "b => (document.documentElement.dataset.call ?? String(b)) !== String(b)", arg=before
        )
        return self.call

    def shows(self, call: int) -> None:
        """Wait until a call is shown."""
        self.tab.wait_for_function(
            "call => document.documentElement.dataset.call === String(call)", arg=int(call)
        )

    def text(self, selector: str) -> str:
        return str(self.tab.inner_text(selector))

    def check(self) -> None:
        assert self.complaints == []
        assert self.elsewhere == []


@contextmanager
def opened(browser: Any, served: Served, **options: Any) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    page = Page(context, served.url)
    yield page
    page.check()
    context.close()


def acts(served: Served, n: int) -> list[Any]:
    wait_until(lambda: len(served.log) >= n)
    return list(served.log.acts())


def test_every_decision_by_key(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        seen = []
        for key in ("2", "x", "u", "Enter"):
            seen.append(before := page.call)
            page.press(key)
            page.moved(before)
        page.press("n")
        page.tab.keyboard.type("buzzer")
        before = page.call
        page.press("Enter")
        page.moved(before)
        # Offered from now on, with a number of its own.
        assert "buzzer" in page.text("#classes button:nth-child(5)")
        before = page.call
        page.press("5")
        page.moved(before)
        made = acts(served, 6)
        wanted = [("known", KNOWN[1]), ("not_target", None), ("uncertain", None)]
        assert [(act.kind, act.class_name) for act in made[:3]] == wanted
        assert made[3].kind == "known"
        assert [(a.kind, a.class_name) for a in made[4:]] == [("new", "buzzer")] * 2
        order = served.desk.queue("novel").order
        assert seen == [int(p) for p in order[:4]]
        assert {(act.reviewer, act.model, act.queue) for act in made} == {
            ("Ada", "model-1", "novel")
        }
        wait_until(lambda: page.text("#progress").startswith("6 of"))


def test_search_finds_a_class_and_ignores_what_is_no_class(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        page.press("/")
        page.tab.keyboard.type("ree")
        options = page.tab.locator("#matches li")
        assert options.all_inner_texts() == ["Reed warbler", "New class: ree"]
        assert page.tab.get_attribute("#search", "aria-activedescendant") == "match-0"
        before = page.call
        page.press("Enter")
        page.moved(before)
        page.press("/")
        page.tab.keyboard.type("'; DROP TABLE acts; --<img src=x onerror=alert(1)>")
        page.press("Escape")
        assert page.tab.input_value("#search") == ""
        page.press("/")
        page.tab.keyboard.type("t")
        page.press("ArrowDown")
        second = page.tab.locator("#matches [aria-selected=true]").inner_text()
        before = page.call
        page.press("Enter")
        page.moved(before)
        assert [act.class_name for act in acts(served, 2)] == ["Reed warbler", second]


def test_undo_back_skip_and_notes(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        first = page.call
        page.press("m")
        page.tab.keyboard.type("faint, <b>two</b> birds")
        page.press("Escape")
        page.press("x")
        second = page.moved(first)
        page.press("ArrowRight")
        third = page.moved(second)
        page.press("ArrowLeft")
        assert page.moved(third) == second
        page.press("ArrowRight")
        assert page.moved(second) == third
        wait_until(lambda: "not a target" in page.text("#recent"))
        page.press("z")
        assert page.moved(third) == first
        assert [(act.kind, act.undoes) for act in acts(served, 2)] == [
            ("not_target", None),
            ("undo", 1),
        ]
        assert served.log.acts()[0].note == "faint, <b>two</b> birds"
        page.press("m")
        page.tab.keyboard.type("hear again")
        page.press("Enter")
        assert acts(served, 3)[2].kind == "note"
        assert page.call == first
        assert "hear again" in page.text("#notes")


def test_a_whole_group_at_once_but_for_what_is_left_out(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        page.tab.select_option("#queue", "groups")
        page.tab.wait_for_selector("#whole:not([hidden])")
        members = [int(p) for p in served.desk.stage.items.groups["group 1"]]
        assert page.call == members[0]
        page.press("g")
        page.tab.wait_for_selector(".member")
        assert page.tab.locator(".member[aria-pressed=true]").count() == len(members)
        # What the model says of the first of them is not said of all.
        assert page.text("#recording") == "group 1"
        assert not page.tab.is_visible(".novelty")
        page.tab.keyboard.press("Enter")  # selects or not, and accepts nothing
        assert page.tab.locator(".member[aria-pressed=true]").count() == len(members) - 1
        page.tab.keyboard.press("Enter")
        assert len(served.log) == 0
        page.tab.locator(".member").nth(1).click()
        page.press("n")
        page.tab.keyboard.type("buzzer")
        page.press("Enter")
        (act,) = acts(served, 1)
        assert len(act.calls) == len(members) - 1
        assert (act.kind, act.class_name, act.queue) == ("new", "buzzer", "groups")
        # What was left out comes next; undo takes the whole decision back.
        page.shows(members[1])
        wait_until(lambda: "buzzer \u00d7 " in page.text("#recent"))
        page.press("z")
        wait_until(lambda: served.desk.state("Ada")["counts"]["decided"] == 0)


def test_mouse_alone_on_a_tablet(browser: Any, served: Served) -> None:
    context = browser.new_context(
        viewport={"width": 820, "height": 1180}, has_touch=True, color_scheme="dark"
    )
    page = Page(context, served.url)
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 820
    for selector in ("#classes button:nth-child(1)", "#nothing", "#unsure", "#accept"):
        before = page.call
        page.tab.tap(selector)
        page.moved(before)
    page.tab.tap("#undo")
    wait_until(lambda: len(served.log) == 5)
    before = page.call
    page.tab.tap("#next")
    after = page.moved(before)
    page.tab.tap("#previous")
    assert page.moved(after) == before
    page.tab.tap("#search")
    page.tab.keyboard.type("buzz")
    page.tab.tap("#matches li")
    assert acts(served, 6)[5].class_name == "buzz"
    small = page.tab.evaluate(
        "[...document.querySelectorAll('button')].filter(b => b.offsetHeight > 0)"
        ".filter(b => b.offsetHeight < 24).map(b => b.id || b.className)"
    )
    assert small == []
    page.check()
    context.close()


def test_sound_plays_in_a_loop_and_by_key(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        page.tab.wait_for_function("() => document.getElementById('audio').currentTime > 0")
        assert page.tab.evaluate("document.getElementById('audio').loop")
        page.press(" ")
        wait_until(lambda: page.tab.get_attribute("#play", "aria-pressed") == "false")
        page.press("v")
        assert page.tab.evaluate("document.getElementById('audio').src").endswith("view=near")
        page.press("s")
        assert page.tab.evaluate("document.getElementById('audio').playbackRate") == 0.5
        # Where the box is drawn is where the call is.
        frame = served.desk.stage.items.media.frame(page.call, "context")
        box = page.tab.locator("#plot .box").bounding_box()
        plot = page.tab.locator("#plot").bounding_box()
        key = served.desk.stage.index.keys[page.call]
        share = (key.begin_s - frame.begin_s) / (frame.end_s - frame.begin_s)
        assert (box["x"] - plot["x"]) / plot["width"] == pytest.approx(share, abs=0.01)
        up = 1 - key.high_hz / frame.high_hz
        assert (box["y"] - plot["y"]) / plot["height"] == pytest.approx(up, abs=0.01)


def test_two_tabs_and_two_people(browser: Any, served: Served) -> None:
    with opened(browser, served) as one, opened(browser, served) as two:
        with two.tab.expect_response("**/api/cards*"):
            two.tab.fill("#reviewer", "Bo")
            two.tab.press("#reviewer", "Enter")
        first = one.call
        assert two.call == first
        one.press("1")
        one.moved(first)
        two.press("x")
        two.moved(first)
        by = acts(served, 2)
        assert {(act.reviewer, act.kind) for act in by} == {("Ada", "known"), ("Bo", "not_target")}
        # What one decides the other is not asked again; that they differ both can see.
        one.tab.reload()
        one.tab.wait_for_selector("html[data-shown]")
        assert one.call != first
        assert "1 conflict" in one.text("#counts")
        one.tab.select_option("#queue", "conflicts")
        one.shows(first)
        assert "Bo: not a target" in one.text("#badges")


def test_reload_goes_on_where_it_was(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        page.tab.select_option("#queue", "uncertain")
        order = [int(p) for p in served.desk.queue("uncertain").order]
        page.shows(order[0])
        for k in range(3):
            page.press("x")
            page.moved(order[k])
        acts(served, 3)
        page.tab.reload()
        page.tab.wait_for_selector("html[data-shown]")
        assert page.call == order[3]
        assert page.tab.input_value("#queue") == "uncertain"


def test_a_server_that_is_killed_costs_no_decision(browser: Any, made: Any, tmp_path: Path) -> None:
    log = tmp_path / "decisions.sqlite"
    with Served(made, log) as first:
        port = first.port
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = Page(context, first.url)
        page.press("x")
        wait_until(lambda: len(first.log) == 1)
    before = page.call
    page.press("1")
    page.moved(before)
    page.tab.wait_for_selector(".notice.offline")
    assert "1 decision waits in this browser" in page.text("#notice")
    assert "not saved yet" in page.text("#recent")
    before = page.call
    page.press("2")
    page.moved(before)
    with Served(made, log, port=port) as second:
        wait_until(lambda: len(second.log) == 3)
        assert [act.class_name for act in second.log.acts()] == [None, KNOWN[0], KNOWN[1]]
        page.tab.wait_for_selector(".notice", state="hidden")
    page.check()
    context.close()


def test_a_decision_that_waits_outlives_the_browser_tab(
    browser: Any, made: Any, tmp_path: Path
) -> None:
    log = tmp_path / "decisions.sqlite"
    context = browser.new_context()
    with Served(made, log) as first:
        port, page = first.port, Page(context, first.url)
    page.press("u")
    page.tab.wait_for_selector(".notice.offline")
    page.tab.close(run_before_unload=False)
    with Served(made, log, port=port) as second:
        again = Page(context, second.url)
        wait_until(lambda: len(second.log) == 1)
        again.check()
    context.close()


def test_an_undo_while_the_server_is_away_takes_back_what_was_not_sent(
    browser: Any, made: Any, tmp_path: Path
) -> None:
    log = tmp_path / "decisions.sqlite"
    with Served(made, log) as first:
        port, context = first.port, browser.new_context()
        page = Page(context, first.url)
    asked = page.call
    page.press("u")
    page.moved(asked)
    page.tab.wait_for_selector(".notice.offline")
    page.press("z")
    page.shows(asked)
    page.press("x")
    with Served(made, log, port=port) as second:
        assert [act.kind for act in acts(second, 1)] == ["not_target"]
    context.close()


def test_ten_thousand_calls(browser: Any, tmp_path: Path) -> None:
    with (
        Served(many_items(10_000), tmp_path / "d.sqlite") as served,
        opened(browser, served) as page,
    ):
        assert "0 of 10,000" in page.text("#progress")
        for _ in range(40):
            before = page.call
            page.press("x")
            page.moved(before)
        made = acts(served, 40)
        order = served.desk.queue("novel").order
        keys = served.desk.stage.index.keys
        assert [act.calls[0] for act in made] == [keys[p] for p in order[:40]]


def test_the_end_of_a_queue_is_told_and_skipped_calls_are_offered_again(
    browser: Any, tmp_path: Path
) -> None:
    with Served(many_items(3), tmp_path / "d.sqlite") as served, opened(browser, served) as page:
        page.tab.select_option("#queue", "conflicts")
        page.tab.wait_for_selector("#end:not([hidden])")
        assert page.text("#end").startswith("There is nothing in this queue")
        assert not page.tab.is_visible("#recording")
        page.tab.select_option("#queue", "novel")
        page.tab.wait_for_selector("html[data-call]")
        first = page.call
        page.press("ArrowRight")
        page.press("x")
        page.press("x")
        page.tab.wait_for_selector("#end:not([hidden])")
        acts(served, 2)
        wait_until(lambda: "2 of 3" in page.text("#progress"))
        page.tab.select_option("#queue", "uncertain")
        page.shows(first)
        page.press("x")
        page.tab.wait_for_selector("#end:not([hidden])")
        wait_until(lambda: "All of this queue is decided" in page.text("#end"))


def test_learning_shows_what_moved_and_goes_on_with_the_new_order(
    browser: Any, made: Any, tmp_path: Path
) -> None:
    fields = {name: getattr(made, name) for name in made.__dataclass_fields__}

    def learn(desk: Any, progress: Any) -> ReviewItems:
        calls = made.calls
        labels = [KNOWN[0] if label == "novel" else label for label in calls.label]
        columns = [getattr(calls, name) for name in calls.__slots__[:5]]
        table = type(calls)(*columns, labels, -calls.novelty, calls.class_scores, calls.classes)
        return ReviewItems(**{**fields, "run": "run-2", "calls": table})

    with (
        Served(made, tmp_path / "d.sqlite", retrain=learn) as served,
        opened(browser, served) as page,
    ):
        before = page.call
        page.press("x")
        page.moved(before)
        page.tab.click("#learn")
        page.tab.wait_for_selector("#moved[open]")
        assert f"novel\t{KNOWN[0]}" in page.text("#moves")
        page.tab.click("#fresh")
        order = served.desk.queue("novel").order
        page.shows(order[0])
        page.press("u")
        assert acts(served, 2)[1].kind == "uncertain"


def test_tables_are_handed_out(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        page.press("1")
        acts(served, 1)
        page.tab.click("#more")
        for name in ("calls.csv", "decisions.csv", "raven.zip"):
            with page.tab.expect_download() as coming:
                page.tab.click(f"a[href='/export/{name}']")
            assert coming.value.suggested_filename == name
            assert Path(coming.value.path()).stat().st_size > 50


def test_keys_are_shown(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        page.press("?")
        page.tab.wait_for_selector("#keys[open]")
        before = page.call
        page.press("x")
        assert page.call == before
        page.press("Escape")
        page.tab.wait_for_selector("#keys", state="hidden")
        page.press("x")
        page.moved(before)


def axe_script() -> str:
    """Return axe-core, which is not shipped: RARAVIS_AXE names it, or npm has put it here."""
    named = os.environ.get("RARAVIS_AXE")
    places = [Path(named)] if named else []
    places.append(Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        reason = "axe-core is not there: npm install --no-save axe-core, or name it in RARAVIS_AXE"
        if os.environ.get("CI_AXE") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found.read_text(encoding="utf-8")


def violations(tab: Any) -> list[str]:
    """Return what axe finds against the accessibility of a page as it stands, contrast included."""
    found = tab.evaluate(
        "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})"
    )
    return [
        f"{v['id']}: {json.dumps([n['html'] for n in v['nodes']][:3])}" for v in found["violations"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way(browser: Any, served: Served, scheme: str) -> None:
    axe = axe_script()
    served.decide("t1", [1, 2], "new", **{"class": "buzzer", "note": "a note"})
    served.decide("t2", [1], "not_target", reviewer="Bo")
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme=scheme, bypass_csp=True
    )
    page = Page(context, served.url)
    page.tab.wait_for_selector("#examples .tile")
    page.tab.evaluate(axe)
    assert violations(page.tab) == []
    for key in ("?", "/"):
        page.press(key)
        if key == "/":
            page.tab.keyboard.type("t")
        assert violations(page.tab) == []
        page.press("Escape")
    page.tab.click("#more")
    assert violations(page.tab) == []
    page.press("Escape")
    page.tab.select_option("#queue", "conflicts")
    page.shows(1)
    assert violations(page.tab) == []
    page.press("ArrowRight")
    page.tab.wait_for_selector("#end:not([hidden])")
    assert violations(page.tab) == []
    page.tab.set_viewport_size({"width": 820, "height": 1180})
    page.tab.select_option("#queue", "groups")
    page.tab.wait_for_selector("#whole:not([hidden])")
    page.press("g")
    page.tab.wait_for_selector(".member")
    assert violations(page.tab) == []
    context.close()


def test_instances_without_sound_are_seen_by_their_features(browser: Any, tmp_path: Path) -> None:
    with (
        Served(many_items(200), tmp_path / "d.sqlite") as served,
        opened(browser, served, bypass_csp=True) as page,
    ):
        page.tab.wait_for_selector("#examples .tile")
        n = served.desk.stage.items.features().shape[1]
        assert page.tab.locator("#plot .bars rect").count() == n
        # An example is drawn with the call it is compared with.
        assert page.tab.locator("#examples .tile .other").count() >= n
        assert not page.tab.is_visible("#play")
        page.press(" ")
        page.press("v")
        before = page.call
        page.press("1")
        page.moved(before)
        page.tab.select_option("#queue", "groups")
        page.tab.wait_for_selector("#whole:not([hidden])")
        page.press("g")
        page.tab.wait_for_selector(".member .bars")
        page.press("x")
        # What was decided before is left alone.
        assert [len(act.calls) for act in acts(served, 2)] == [1, 39]


def test_all_of_it_is_reached_by_tab(browser: Any, served: Served) -> None:
    with opened(browser, served) as page:
        page.tab.wait_for_selector("#examples .tile")
        reached = []
        for _ in range(60):
            page.press("Tab")
            reached.append(
                page.tab.evaluate("document.activeElement.id || document.activeElement.className")
            )
        for name in (
            "queue",
            "reviewer",
            "play",
            "next",
            "search",
            "accept",
            "note",
            "tile",
            "class",
        ):
            assert name in reached, name
