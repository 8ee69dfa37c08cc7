"""How sessions of ``truetail.flow`` end, and what is said of it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from shop import LOAD, SESSIONS, STEPS, Server, sessions_of

import truetail
from truetail import Response, Session


async def fails_an_assert(s: Session, answer: Response) -> None:
    assert answer.status == 201, "not created"


async def minds_the_status(s: Session, answer: Response) -> None:
    (await s.get("/missing", step="login")).raise_for_status()


async def reads_a_long_body(s: Session, answer: Response) -> None:
    (await s.get("/long", step="login")).json()


async def raises(s: Session, answer: Response) -> None:
    raise KeyError("no\n  token")


async def names_no_step(s: Session, answer: Response) -> None:
    await s.get("/list", step="lits")


async def counts_on_a_default(s: Session, answer: Response) -> None:
    await s.get("/list?page=1")


async def yields_to_a_loop(s: Session, answer: Response) -> None:
    await asyncio.sleep(0)


async def sleeps_in_a_loop(s: Session, answer: Response) -> None:
    await asyncio.sleep(1)


async def forgets_to_await(s: Session, answer: Response) -> None:
    s.get("/list", step="list")


async def awaits_twice(s: Session, answer: Response) -> None:
    asked = s.get("/list", step="login")
    await asked
    await asked


async def sleeps_for_ever(s: Session, answer: Response) -> None:
    while True:
        await s.sleep(1)


async def has_no_slash(s: Session, answer: Response) -> None:
    await s.get("list", step="list")


async def goes_where_nobody_said(s: Session, answer: Response) -> None:
    await s.get("http://127.0.0.1:1/list", step="list")


async def asks_what_nobody_can_send(s: Session, answer: Response) -> None:
    await s.get("/\ud800", step="list")


async def sets_the_length(s: Session, answer: Response) -> None:
    await s.get("/list", step="list", headers={"Content-Length": "9"})


@pytest.mark.parametrize(
    ("then", "cause", "kind", "says"),
    [
        (fails_an_assert, "assert", "AssertionError", "AssertionError: not created"),
        (minds_the_status, "status", "truetail._session.StatusError", "StatusError: the status is 404"),
        (reads_a_long_body, "body_too_long", "truetail._session.BodyTooLong", "longer than the 1 MiB that is kept of it"),
        (raises, "raised", "KeyError", r"KeyError: 'no\n token' (test_flow_ends.py, line "),
        (names_no_step, "raised", "ValueError", "step: there is no 'lits'; truetail.flow was told of 'login', 'list', 'buy'"),
        (counts_on_a_default, "raised", "ValueError", "step: there is no 'GET /list'; truetail.flow was told of"),
        (yields_to_a_loop, "raised", "TypeError", "and not 'NoneType': it has no event loop"),
        (sleeps_in_a_loop, "raised", "RuntimeError", "a session has none: await s.get(...)"),
        (forgets_to_await, "raised", "RuntimeError", "s.request('GET', '/list') was never awaited; write 'await' before it"),
        (awaits_twice, "raised", "RuntimeError", "s.request('GET', '/list') was awaited before; make a new one"),
        (sleeps_for_ever, "raised", "RuntimeError", "10000 sleeps without a request between them"),
        (has_no_slash, "raised", "ValueError", "path: 'list' does not begin with a slash"),
        (goes_where_nobody_said, "request", None, "http://127.0.0.1:1 is none of the origins of the run"),
        (asks_what_nobody_can_send, "raised", "UnicodeEncodeError", "surrogates not allowed"),
        (sets_the_length, "request", None, "'Content-Length' cannot be set: it follows from the body of each request"),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine 'sleep' was never awaited:RuntimeWarning")
def test_what_ends_a_session(
    server: Server, then: Callable[[Session, Response], Any], cause: str, kind: str, says: str
) -> None:
    async def session(s: Session) -> None:
        await then(s, await s.post("/login", step="login"))

    result = truetail.flow(session, server.origin, **LOAD)
    sessions = sessions_of(result)
    assert sessions["tally"]["ended_early"] == SESSIONS, result.notes
    assert sessions["steps"][0]["ended_here"] == {cause: SESSIONS}
    assert len(result.notes) == 1 and result.notes[0].startswith("first end at login: ") and says in result.notes[0], result.notes
    assert result.exceptions == ({} if kind is None else {kind: SESSIONS})
    if kind is not None:
        assert result.first_exception is not None and result.first_exception.__traceback__ is not None
    assert server.paths()["/login"] == SESSIONS


def test_a_session_may_catch_what_it_was_refused(server: Server) -> None:
    async def tries(s: Session) -> None:
        try:
            await asyncio.sleep(0)
        except TypeError:
            await s.get("/list", step="list")
        try:
            await s.get("/buy", step="none")
        except ValueError:
            await s.get("/buy", step="buy")

    result = truetail.flow(tries, server.origin, **LOAD)
    assert sessions_of(result)["tally"]["completed"] == SESSIONS and server.paths() == {"/list": SESSIONS, "/buy": SESSIONS}


def test_a_session_without_a_request_never_begins(server: Server) -> None:
    users = [f"user {n}" for n in range(5)]

    async def runs_out(s: Session) -> None:
        users.pop()
        await s.get("/list", step="list")

    async def asks_for_nothing(s: Session) -> None: ...

    async def thinks_first(s: Session) -> None:
        await s.sleep(1)
        await s.get("/list", step="list")

    result = truetail.flow(runs_out, server.origin, **LOAD)
    tally = sessions_of(result)["tally"]
    assert (tally["begun"], tally["never_begun"]) == (5, SESSIONS - 5) and result.tally["never_issued"] == SESSIONS - 5
    assert "IndexError: pop from empty list (test_flow_ends.py, line " in result.notes[0]
    for session, says in [(asks_for_nothing, "ended without a request"), (thinks_first, "would only move the arrival")]:
        result = truetail.flow(session, server.origin, **LOAD)
        assert sessions_of(result)["tally"]["never_begun"] == SESSIONS and says in result.notes[0]
    assert server.paths() == {"/list": 5}


def test_a_run_whose_sessions_do_not_begin_is_invalid(server: Server) -> None:
    async def begins_sometimes(s: Session) -> None:
        assert s.number % 4 == 0
        await s.get("/list", step="list")

    result = truetail.flow(begins_sometimes, server.origin, rate=40, duration="3s", steps=STEPS)
    assert sessions_of(result)["tally"]["never_begun"] == 90
    assert result.verdict.state == "INVALID" and "rate_not_reached" in [reason.code for reason in result.verdict.reasons]


def test_without_an_answer_the_coroutine_is_closed(server: Server) -> None:
    closed: list[int] = []

    async def waits(s: Session) -> None:
        try:
            await s.get("/list", step="list")
            await s.get("/never", step="buy")
        finally:
            closed.append(s.number)
            if s.number % 2 == 0:
                raise ValueError("while it was closed")

    result = truetail.flow(waits, server.origin, **LOAD, timeout="300ms")
    assert sessions_of(result)["steps"][2]["ended_here"] == {"timed_out": SESSIONS}
    assert sorted(closed) == list(range(SESSIONS)) and result.exceptions == {}
    closed.clear()
    cut = truetail.flow(waits, server.origin, rate=100, duration="100ms", drain="300ms", steps=STEPS)
    assert sessions_of(cut)["tally"]["in_flight_at_end"] == 10 and sorted(closed) == list(range(10))
