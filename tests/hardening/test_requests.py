"""Whatever the review page is asked, by somebody who has its token: it answers, and goes on."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.review.made import make_items
from tests.review.serving import Served

ROUNDS = settings(
    max_examples=40, deadline=timedelta(seconds=20), suppress_health_check=[HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("asked")
    with Served(make_items(folder), folder / "decisions.sqlite") as found:
        yield found


WORDS = st.one_of(
    st.text(max_size=20),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["novel", "run-1", "0", "1", "../..", "nan", "-1", "' or 1=1 --", "%00", "\0"]),
)
ROUTES = [
    "/",
    "/api/state",
    "/api/cards",
    "/picture/0",
    "/sound/0",
    "/export/calls.csv",
    "/static/x",
]
NAMES = ["queue", "run", "class", "search", "first", "n", "call", "size", "order", "after", "x"]
JSON: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
DECISION = {"ticket": "t", "reviewer": "Ada", "kind": "known", "calls": [0], "run": "run-1"}


@ROUNDS
@given(
    route=st.sampled_from(ROUTES) | WORDS.map(lambda word: "/" + quote(word, safe="/")),
    asked=st.lists(st.tuples(st.sampled_from(NAMES), WORDS), max_size=4),
)
def test_any_question(served: Served, route: str, asked: list[tuple[str, str]]) -> None:
    query = "&".join(f"{name}={quote(word)}" for name, word in asked)
    answer = served.get(f"{route}?{query}")
    assert answer.status < 500
    assert b"Traceback" not in answer.body


@ROUNDS
@given(
    route=st.sampled_from(["/api/decide", "/api/undo", "/api/retrain", "/api/nothing"]),
    content=st.one_of(
        st.binary(max_size=100),
        JSON.map(lambda value: json.dumps(value).encode()),
        st.dictionaries(st.sampled_from([*DECISION, "class", "note", "queue"]), JSON).map(
            lambda changes: json.dumps({**DECISION, **changes}).encode()
        ),
    ),
)
def test_any_decision(served: Served, route: str, content: bytes) -> None:
    answer = served.post(route, content)
    assert answer.status < 500
    assert b"Traceback" not in answer.body


def test_the_page_is_still_there(served: Served) -> None:
    assert served.get("/api/state").status == 200
