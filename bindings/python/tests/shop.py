"""A shop for tests of ``truetail.flow``: its server, a session in it, and what must be true of the books of every run."""

import collections
import http.server
import time
from typing import Any

import truetail
from truetail import Session

SESSIONS = 20
STEPS = ["login", "list", "buy"]
LOAD: dict[str, Any] = {"rate": 200, "sessions": SESSIONS, "duration": None, "steps": STEPS}


class Shop(http.server.BaseHTTPRequestHandler):
    """Gives each session a cookie at its login, and remembers method, path, headers and body of each request."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        if self.path == "/never":
            time.sleep(30)
        text = b"x" * ((1 << 20) + 1) if self.path == "/long" else b'{"token": "t"}'
        self.send_response(404 if self.path == "/missing" else 200)
        if self.path == "/login":
            self.send_header("Set-Cookie", f"id={len(self.server.seen)}")  # type: ignore[attr-defined]
        self.send_header("X-Two", "a")
        self.send_header("X-Two", "b")
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_: object) -> None: ...


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 100

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Shop)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.origin = f"http://127.0.0.1:{self.server_port}"

    def paths(self) -> collections.Counter[str]:
        return collections.Counter(path for _, path, _, _ in self.seen)


def sessions_of(result: truetail.Result) -> dict[str, Any]:
    """The books of sessions, which have to balance."""
    sessions = result.sessions
    assert sessions is not None
    tally = sessions["tally"]
    assert tally["planned"] == tally["begun"] + tally["never_begun"]
    assert tally["begun"] == tally["completed"] + tally["ended_early"] + tally["in_flight_at_end"]
    for step in sessions["steps"]:
        assert step["reached"] + sum(step["not_reached"].values()) == tally["planned"], step
    issued = sum(step["reached"] + step.get("repeats", 0) for step in sessions["steps"])
    assert result.warmup_tally["planned"] > 0 or issued == result.tally["issued"]
    assert not any("bug" in note for note in result.notes), result.notes
    return sessions


async def shop(s: Session) -> None:
    """Every fourth session logs in alone, lists three times, buys without a list, or does everything."""
    await s.post("/login", step="login")
    way = s.number % 4
    for _ in range([0, 3, 0, 1][way]):
        await s.get("/list", step="list")
    if way >= 2:
        await s.post("/buy", step="buy")
