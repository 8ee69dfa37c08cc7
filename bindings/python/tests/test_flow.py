"""``truetail.flow``: sessions that a coroutine function leads, against what a server saw."""

import json
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import pytest
from shop import LOAD, SESSIONS, STEPS, Server, sessions_of, shop

import truetail
from truetail import Response, Session

HERE = Path(__file__).parent
CERTIFICATE, KEY = HERE / "localhost.pem", HERE / "localhost-key.pem"

def test_the_books_are_those_of_the_server(server: Server, tmp_path: Path) -> None:
    result = truetail.flow(shop, server.origin, **LOAD)
    sessions, each = sessions_of(result), SESSIONS // 4
    assert sessions["flow"] == "shop"
    assert sessions["tally"] == {
        "planned": SESSIONS, "begun": SESSIONS, "never_begun": 0, "completed": SESSIONS, "ended_early": 0, "in_flight_at_end": 0
    }  # fmt: skip
    login, listed, bought = sessions["steps"]
    assert server.paths() == {"/login": SESSIONS, "/list": 4 * each, "/buy": 2 * each}
    assert (login["reached"], listed["reached"], bought["reached"]) == (SESSIONS, 2 * each, 2 * each)
    assert (listed["repeats"], listed["most_requests"], listed["not_reached"]["not_asked"]) == (2 * each, 3, 2 * each)
    assert "repeats" not in login and "not_asked" not in login["not_reached"]
    methods = {target["method"] for target in result.to_dict()["scenario"]["mix"]["targets"]}
    assert methods == {"ANY"} and "sessions of 3 steps at 200/s" in result.table(width=200)
    result.save(tmp_path / "run")
    assert truetail.load(tmp_path / "run").sessions == sessions
    page = (tmp_path / "run" / "report.html").read_text()
    assert "repeats" in page and "completed without" in page and "hash of every request" not in page


def test_a_session_may_go_to_several_origins(server: Server) -> None:
    with Server() as api:
        threading.Thread(target=api.serve_forever, daemon=True).start()

        async def both(s: Session) -> None:
            answer = await s.post("/login", step="login")
            await s.get(f"{api.origin}/list?key={answer.json()['token']}", step="list")
            await s.get(f"{server.origin}/buy", step="buy")

        result = truetail.flow(both, [server.origin, api.origin], **LOAD)
        api.shutdown()
        assert sessions_of(result)["tally"]["completed"] == SESSIONS, result.notes
        assert (server.paths(), api.paths()) == ({"/login": SESSIONS, "/buy": SESSIONS}, {"/list?key=t": SESSIONS})
        assert all(fields["Host"] == api.origin[7:] for _, _, fields, _ in api.seen)
        assert result.to_dict()["scenario"]["url"] == f"{server.origin} and {api.origin}"
    with pytest.raises(ValueError, match="^origin: none given"):
        truetail.flow(both, [], **LOAD)


def test_runs_are_merged_and_reported_as_those_of_a_flow(server: Server, tmp_path: Path) -> None:
    def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-m", "truetail", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)

    for name in ("a", "b"):
        truetail.flow(shop, server.origin, **LOAD).save(tmp_path / name)
    merged = command("merge", "a", "b", "--out", "both")
    assert merged.returncode == 0, merged.stderr
    both = sessions_of(truetail.load(tmp_path / "both"))
    assert [step["reached"] for step in both["steps"]] == [2 * SESSIONS, SESSIONS, SESSIONS]
    assert server.paths() == {"/login": 2 * SESSIONS, "/list": 2 * SESSIONS, "/buy": SESSIONS}
    report = command("report", "both", "--fail-if", "p50{list} > 1ns", "--fail-if", "session-time p50 > 1h")
    assert "flow shop, sessions of 3 steps" in report.stdout and "PASSED session-time" in report.stdout, report.stdout
    assert "FAILED p50{list}" in report.stdout and report.returncode != 0, report.stdout


def test_session_k_is_the_same_on_however_many_threads(server: Server) -> None:
    for threads in (1, 2):
        server.seen.clear()
        numbers: list[int] = []

        async def numbered(s: Session) -> None:
            numbers.append(s.number)
            await shop(s)

        result = truetail.flow(numbered, server.origin, **LOAD, threads=threads)
        assert sorted(numbers) == list(range(SESSIONS))
        assert server.paths() == {"/login": 20, "/list": 20, "/buy": 10}
        assert sessions_of(result)["tally"]["completed"] == SESSIONS


def test_the_warmup_is_in_no_book(server: Server) -> None:
    result = truetail.flow(shop, server.origin, rate=100, duration="100ms", warmup="100ms", steps=STEPS)
    assert sessions_of(result)["tally"]["planned"] == 10 and result.warmup_tally["planned"] > 0
    assert sum(server.paths().values()) == result.tally["issued"] + result.warmup_tally["issued"]


def test_think_time_is_planned_and_in_no_time(server: Server, tmp_path: Path) -> None:
    async def thinks(s: Session) -> None:
        await s.get("/list", step="list")
        await s.sleep("700ms")
        await s.sleep(0.3)
        await s.get("/buy", step="buy")

    began = time.monotonic()
    result = truetail.flow(thinks, server.origin, **LOAD)
    assert time.monotonic() - began > 1.0
    sessions = sessions_of(result)
    assert sessions["tally"]["completed"] == SESSIONS
    longest = next(one for one in sessions["session_time"]["quantiles"] if one["q"] == 1.0)
    assert longest["value_ns"] < 1_000_000_000
    result.save(tmp_path / "run")
    sampled = json.loads((tmp_path / "run" / "sessions.json").read_text())
    assert {one["think_ns"] for one in sampled["slowest"]} == {1_000_000_000}
    cut = truetail.flow(thinks, server.origin, rate=100, duration="100ms", drain="200ms", steps=STEPS)
    assert sessions_of(cut)["tally"]["in_flight_at_end"] == 10


def test_what_python_takes_is_lag_of_the_generator(server: Server) -> None:
    def slow(first: bool) -> Callable[[Session], Any]:
        async def once(s: Session) -> None:
            if first:
                time.sleep(0.6)
            await s.get("/list", step="list")
            if not first:
                time.sleep(0.6)
            await s.get("/buy", step="buy")

        return once

    for first in (True, False):
        result = truetail.flow(slow(first), server.origin, rate=1, sessions=1, duration=None, steps=STEPS)
        table = result.to_numpy()
        assert max(result.hist("generator_lag").high_ns) >= 600_000_000, table
        assert max(result.hist("service_time").low_ns) < 600_000_000, table


def test_requests_are_what_was_asked_for(server: Server) -> None:
    answers: list[Response] = []

    async def asks(s: Session) -> None:
        answers.append(await s.post("/login", step="login", json={"user": "ann"}))
        answers.append(await s.get("/list?a=1#top", step="list", params={"b": [2, "x y"]}, headers={"x-all": "own", "Cookie": "c=3"}))
        answers.append(await s.head("/list", step="list"))
        answers.append(await s.put("/buy", step="buy", data={"n": 1}))
        answers.append(await s.patch("/buy", step="buy", data="é", headers=[("Content-Type", "text/plain")]))
        answers.append(await s.delete("/buy", step="buy", data=b"\xff"))
        answers.append(await s.request("get", "/missing", step="buy"))

    load = {**LOAD, "sessions": 1}
    result = truetail.flow(asks, server.origin, **load, headers={"X-All": "yes", "User-Agent": "me"})
    assert sessions_of(result)["tally"]["completed"] == 1, result.notes
    methods = [(method, path, body) for method, path, _, body in server.seen]
    assert methods == [
        ("POST", "/login", b'{"user": "ann"}'),
        ("GET", "/list?a=1&b=2&b=x+y", b""),
        ("HEAD", "/list", b""),
        ("PUT", "/buy", b"n=1"),
        ("PATCH", "/buy", "é".encode()),
        ("DELETE", "/buy", b"\xff"),
        ("GET", "/missing", b""),
    ]
    sent = [headers for _, _, headers, _ in server.seen]
    assert [headers.get("X-All", headers.get("x-all")) for headers in sent] == ["yes", "own", *["yes"] * 5]
    types = [headers.get("Content-Type") for headers in sent]
    assert types == ["application/json", None, None, "application/x-www-form-urlencoded", "text/plain", None, None]
    assert [headers.get("Cookie") for headers in sent] == [None, "id=1; c=3", *["id=1"] * 5]
    assert {headers["User-Agent"] for headers in sent} == {"me"}
    first, head, missing = answers[0], answers[2], answers[6]
    assert (first.status, first.ok, first.json(), first.http_version) == (200, True, {"token": "t"}, "1.1")
    assert first.headers["x-two"] == "a, b" and first.headers.get_all("X-TWO") == ["a", "b"] and "nothing" not in first.headers
    assert 0 < first.elapsed < 30 and first.text == '{"token": "t"}' and first.raise_for_status() is first
    assert (head.body, head.headers["content-length"]) == (b"", "14")
    assert (missing.status, missing.ok) == (404, False)


def test_each_session_has_cookies_of_its_own(server: Server) -> None:
    result = truetail.flow(shop, server.origin, **LOAD)
    assert sessions_of(result)["tally"]["completed"] == SESSIONS
    cookies = [headers.get("Cookie") for _, path, headers, _ in server.seen if path == "/buy"]
    assert len(set(cookies)) == len(cookies) == 10 and all(cookie and cookie.startswith("id=") for cookie in cookies)
    assert all("Cookie" not in headers for _, path, headers, _ in server.seen if path == "/login")


def test_gates(server: Server) -> None:
    gates = ["session-time p50 > 1h", "p50{list} > 1ns", "incomplete-sessions > 40%"]
    result = truetail.flow(shop, server.origin, **LOAD, fail_if=gates)
    assert [gate.state for gate in result.gates] == ["holds", "fails", "holds"]
    with pytest.raises(ValueError, match="^fail_if: .*there is no target 'lits'; there is 'login', 'list', 'buy'"):
        truetail.flow(shop, server.origin, **LOAD, fail_if=["p50{lits} > 1s"])


def test_what_is_no_failure_of_a_session_ends_the_run(server: Server) -> None:
    async def leaves(s: Session) -> None:
        await s.get("/list", step="list")
        sys.exit(3)

    with pytest.raises(SystemExit):
        truetail.flow(leaves, server.origin, rate=100, duration="60s", steps=STEPS)
    assert 1 <= len(server.seen) < 1000


def test_tls(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    with Server() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = server.origin.replace("http:", "https:")
        result = truetail.flow(shop, origin, **LOAD, ca=CERTIFICATE)
        assert sessions_of(result)["tally"]["completed"] == SESSIONS
        with pytest.raises(ConnectionError, match="it does not speak HTTP/2|alert"):
            truetail.flow(shop, origin, **LOAD, ca=CERTIFICATE, http2=True)
        server.shutdown()


def test_the_trial_is_a_connection(server: Server) -> None:
    result = truetail.flow(shop, server.origin, **{**LOAD, "sessions": 1})
    assert len(server.seen) == result.tally["issued"] == 1
    with pytest.raises(ConnectionError, match="is the server running"):
        truetail.flow(shop, "http://127.0.0.1:1", **LOAD)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"session": print}, TypeError, "session: 'builtin_function_or_method' is no async function; write 'async def"),
        ({"steps": "login"}, TypeError, "steps: expected a list of texts, not str; write steps=['login']"),
        ({"steps": []}, ValueError, "steps: none given"),
        ({"steps": ["a", "a"]}, ValueError, "steps: 'a' is there twice"),
        ({"origin": "127.0.0.1:1"}, ValueError, "origin: "),
        ({"origin": "http://127.0.0.1:1/shop"}, ValueError, "origin: 'http://127.0.0.1:1/shop' has more than a scheme"),
        ({"rate": None}, ValueError, "rate: none given; write sessions per second, such as rate=100"),
        ({"sessions": 0}, ValueError, "sessions: 0 is not a whole number from 1"),
        ({"threads": 0}, ValueError, "threads: 0 is not a whole number from 1"),
        ({"insecure": True}, ValueError, "insecure: it is for TLS"),
        ({"resolve": ["a:80"]}, ValueError, "resolve: 'a:80' is not of the form"),
        ({"fail_if": ["session-time p99{shop} > 1s"]}, ValueError, "fail_if: 'session-time p99{shop} > 1s': there is one flow only"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        truetail.flow(**{"session": shop, "origin": "http://127.0.0.1:1", **LOAD, **arguments})
    assert str(raised.value).startswith(says), raised.value


def test_a_coroutine_is_no_function() -> None:
    with pytest.raises(TypeError, match="^session: this is a coroutine, which runs once"):
        truetail.flow(shop(None), "http://127.0.0.1:1", **LOAD)  # type: ignore[arg-type]


@pytest.mark.parametrize("connections", [None, 2])
def test_a_connection_for_each_session(server: Server, connections: Optional[int]) -> None:
    async def shop(s: Session) -> None:
        await s.get("/login", step="login")
        await s.sleep("5ms")
        await s.get("/items", step="list")

    own = {"connection_per_session": True, "preflight": False}
    result = truetail.flow(shop, server.origin, connections=connections, **{**LOAD, **own})
    assert sessions_of(result)["tally"]["completed"] == SESSIONS
    run = result.to_dict()
    assert run["scenario"]["connection_per_session"] is True
    assert run["generator"]["connections_opened"] == SESSIONS
    assert run["generator"]["connections_peak"] <= (connections or SESSIONS)
