"""Who is not let in, and what is not taken."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.review.made import KNOWN
from tests.review.serving import TOKEN, Served

from raravis.review import ReviewError
from raravis.review.security import MOST_BODY_BYTES, kept_token
from raravis.review.server import listen


@pytest.fixture(scope="module")
def served(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all of them: nothing here may change anything."""
    with Served(made, tmp_path_factory.mktemp("safe") / "decisions.sqlite") as found:
        yield found


PATHS = [
    "/",
    "/static/main.js",
    "/api/state",
    "/api/cards?queue=novel",
    "/picture/0?run=run-1",
    "/sound/0?run=run-1",
    "/export/calls.csv",
    "/export/decisions.csv",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_there_is_nothing(served: Served, path: str) -> None:
    for headers in (
        {},
        {"cookie": f"{served.secrets.cookie}=wrong"},
        {"cookie": f"other={TOKEN}"},
        {"cookie": f'{served.secrets.cookie}="; x'},
        {"authorization": f"Bearer {TOKEN}"},
    ):
        answer = served.request("GET", path, **headers)
        assert answer.status == 403
        assert TOKEN.encode() not in answer.body
    assert served.request("GET", "/?token=wrong").status == 403
    assert served.request("GET", f"/api/state?token={TOKEN}").status == 403


def test_the_token_moves_from_the_address_into_a_cookie_that_no_script_reads(
    served: Served,
) -> None:
    answer = served.request("GET", f"/?token={TOKEN}")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_forbids_what_the_page_does_not_need(served: Served, path: str) -> None:
    for answer in (served.get(path), served.request("GET", path)):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:80", ""]
)
def test_a_name_that_leads_here_by_a_trick_is_not_ours(served: Served, host: str) -> None:
    assert served.get("/api/state", host=host).status == 421
    assert served.request("GET", f"/?token={TOKEN}", host=host).status == 421


def test_two_host_headers_are_none(served: Served) -> None:
    head = f"GET /api/state HTTP/1.1\r\nHost: {served.host}\r\nHost: evil.example\r\n"
    cookie = f"Cookie: {served.secrets.cookie}={TOKEN}\r\n\r\n"
    answer = served.raw((head + cookie).encode())
    assert answer.split()[1] in (b"400", b"421")


@pytest.mark.parametrize("path", ["/api/decide", "/api/undo", "/api/retrain"])
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": None}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"x-raravis-review": "wrong"}, 403),
        ({"x-raravis-review": None}, 403),
        ({"x-raravis-review": TOKEN}, 403),
        ({"cookie": None}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"host": "evil.example"}, 421),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_only_the_page_itself_may_write(
    served: Served, path: str, changes: dict[str, Any], status: int
) -> None:
    headers = {**served.write_headers(), **changes}
    body = json.dumps(
        {"ticket": "t", "reviewer": "Ada", "kind": "uncertain", "calls": [0]}
    ).encode()
    given = {name: value for name, value in headers.items() if value is not None}
    assert served.request("POST", path, body, **given).status == status
    assert len(served.log) == 0
    assert served.get(path).status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2fapp.py",
        "/static/....//app.py",
        "/picture/..%2f..%2fetc%2fpasswd?run=run-1",
        "/picture/0?run=../run-1",
        "/picture/0?run=run-1&view=../../etc/passwd",
        "/picture/0?run=run-1&colours=../x",
        "/picture/-1?run=run-1",
        "/picture/60?run=run-1",
        "/picture/" + "9" * 6000 + "?run=run-1",
        "/picture/1e3?run=run-1",
        "/sound/..?run=run-1",
        "/sound/0?run=..%2f..",
        "/sound/0?run=run-1&view=..",
        "/sound/%00?run=run-1",
        "/export/..%2f..%2fdecisions.sqlite",
        "/export/../decisions.sqlite",
        "/api/cards?queue=../novel",
        "/api/cards?queue=novel'%20OR%201=1;--",
        "/api/cards?start=..",
        "/api/cards?n=../..",
        "/api/cards?call=..",
        "/api/cards?call=99",
        "/api/group?name=../../etc",
        "/api/examples?run=..&id=0",
        "/api/examples?run=run-1&id=..",
        "/api/examples?run=run-1&id=-3",
        "/../../../../etc/passwd",
        "//etc/passwd",
    ],
)
def test_no_parameter_leads_to_a_file(served: Served, path: str) -> None:
    answer = served.get(path)
    assert answer.status in (400, 404, 409)
    assert b"root:" not in answer.body
    assert b"Traceback" not in answer.body


GOOD = {
    "ticket": "t",
    "reviewer": "Ada",
    "kind": "known",
    "class": "wren",
    "calls": [0],
    "run": "run-1",
}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 20_000,
        json.dumps({**GOOD, "calls": "0"}).encode(),
        json.dumps({**GOOD, "calls": [True]}).encode(),
        json.dumps({**GOOD, "calls": [0.5]}).encode(),
        json.dumps({**GOOD, "calls": [-1]}).encode(),
        json.dumps({**GOOD, "calls": [60]}).encode(),
        json.dumps({**GOOD, "calls": [10**30]}).encode(),
        json.dumps({**GOOD, "calls": []}).encode(),
        json.dumps({**GOOD, "calls": [0] * 20_001}).encode(),
        json.dumps({**GOOD, "kind": "undo"}).encode(),
        json.dumps({**GOOD, "kind": ["known"]}).encode(),
        json.dumps({**GOOD, "class": None}).encode(),
        json.dumps({**GOOD, "class": {"$ne": 1}}).encode(),
        json.dumps({**GOOD, "class": "x" * 300}).encode(),
        json.dumps({**GOOD, "class": "\ud800"}).encode(),
        json.dumps({**GOOD, "class": "a\u0000b"}).encode(),
        json.dumps({**GOOD, "note": "\u001b[31m"}).encode(),
        json.dumps({**GOOD, "reviewer": ""}).encode(),
        json.dumps({**GOOD, "ticket": 3}).encode(),
        json.dumps({**GOOD, "run": None}).encode(),
    ],
)
def test_malformed_bodies_are_told_apart_and_change_nothing(served: Served, body: bytes) -> None:
    for path in ("/api/decide", "/api/undo"):
        answer = served.post(path, body)
        assert answer.status == 400
        assert answer.json["error"].endswith(".")
    assert len(served.log) == 0
    assert served.get("/api/state").status == 200


def test_a_huge_body_is_refused_whatever_its_head_says(served: Served) -> None:
    assert served.post("/api/decide", b" " * (MOST_BODY_BYTES + 1)).status == 413
    head = "".join(f"{n}: {v}\r\n" for n, v in served.write_headers().items())
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    for length in (
        "content-length: 99999999999999999999\r\n",
        "transfer-encoding: chunked\r\n",
        "",
    ):
        start = f"POST /api/decide HTTP/1.1\r\nHost: {served.host}\r\n{head}{length}\r\n".encode()
        answer = served.raw(start + (chunk * 3 if "chunked" in length else b"x" * 1000))
        assert answer.split()[1] in (b"400", b"411", b"413")
    assert len(served.log) == 0
    assert served.get("/api/state").status == 200


def test_what_is_no_http_is_no_trouble(served: Served) -> None:
    for content in (
        b"\x00" * 500,
        b"GET\r\n\r\n",
        b"GET /" + b"a" * 200_000,
        b"PUT / HTTP/1.1\r\n\r\n",
    ):
        try:
            served.raw(content)
        except ConnectionError:
            continue  # hung up on is an answer too
    assert served.get("/api/state").status == 200


def test_names_with_scripts_and_statements_are_kept_as_they_are(made: Any, tmp_path: Path) -> None:
    with Served(made, tmp_path / "decisions.sqlite") as served:
        _name_things_badly(served)


def _name_things_badly(served: Served) -> None:
    names = ["<script>alert(1)</script>", "'; DROP TABLE acts; --", "=cmd|' /C calc'!A0", "../../x"]
    for k, name in enumerate(names):
        answer = served.decide(f"t{k}", [k], "new", **{"class": name, "note": name})
        assert answer.status == 200
    assert [act.class_name for act in served.log.acts()] == names
    page = served.get("/").body
    assert b"<script>alert" not in page
    assert page.count(b"<script") == 2
    assert {c["name"] for c in served.get("/api/state").json["classes"]} == {*KNOWN, *names}


def test_the_token_is_kept_for_the_next_time_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / ".review-token"
    token = kept_token(path)
    assert len(token) == 64
    assert kept_token(path) == token
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600  # noqa: PTH116  # as the system has it
    path.write_text("short")
    assert len(kept_token(path)) == 64
    with pytest.raises(ReviewError, match="see to its folder"):
        kept_token(tmp_path / "missing" / "x")


def test_a_taken_port_is_told_and_another_is_found_where_none_is_named() -> None:
    first = listen()
    second = listen()
    numbers = [s.getsockname()[1] for s in (first, second)]
    assert numbers[0] != numbers[1]
    with pytest.raises(ReviewError, match=f"port {numbers[0]} is taken"):
        listen(port=numbers[0])
    with pytest.raises(ReviewError, match="from 1 to 65535"):
        listen(port=70000)
    first.close()
    second.close()
