"""Sessions that a coroutine function leads.

There is no event loop: a worker of the engine steps each coroutine itself. What ``await s.get(...)`` waits for is an
:class:`Operation`, which the coroutine yields to the worker; the worker sends it, and steps the coroutine again with the answer.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path as FilePath
from typing import Any, Optional, Union

from truetail._arguments import header_pairs, texts
from truetail._interrupt import result_of
from truetail._native import FlowRun, Result
from truetail._progress import shown
from truetail._session import BodyTooLong, Request, Response, Session, Sleep, StatusError
from truetail._types import HeadersLike, Path, Rate, Spacing, Time

MAX_SLEEPS = 10_000
"""Sleeps in a row, without a request between them."""
LONGEST_THINK_NS = 10**18
"""Longer than any run."""
LONGEST_WHY = 300
"""Characters of an exception's text that are kept in the notes."""


SessionFunction = Callable[[Session], Coroutine[Any, Any, object]]
Ask = tuple[int, int, str, str, list[tuple[str, str]], bytes]
Failed = tuple[str, str, BaseException]
Answer = tuple[int, str, list[tuple[str, str]], bytes, bool, float]


class Sessions:
    """The sessions of one worker, by user. What they do next is ``None`` (they are done), an :data:`Ask` or a :data:`Failed`."""

    def __init__(self, function: SessionFunction, steps: list[str], headers: list[tuple[str, str]]) -> None:
        self._function, self._headers = function, headers
        self._steps = {name: number for number, name in enumerate(steps)}
        self._under_way: dict[int, tuple[Session, Coroutine[Any, Any, object]]] = {}

    def begin(self, user: int, number: int) -> Union[Ask, Failed, None]:
        """Session ``number`` begins."""
        session = Session(number, self._steps, self._headers)
        try:
            coroutine = self._function(session)
        except Exception as error:
            return _failed(error)
        self._under_way[user] = (session, coroutine)
        return self._go_on(user, None)

    def answered(self, user: int, answer: Answer) -> Union[Ask, Failed, None]:
        """Its request was answered."""
        return self._go_on(user, Response(*answer))

    def abandon(self, user: int) -> None:
        """It goes no further."""
        _, coroutine = self._under_way.pop(user)
        try:
            coroutine.close()
        except Exception:
            # What it does in the end is no part of the session, which had ended before.
            pass

    def _go_on(self, user: int, answer: Optional[Response]) -> Union[Ask, Failed, None]:
        session, coroutine = self._under_way[user]
        try:
            think, request = _next_request(coroutine, answer)
            session.unawaited()
            return (request.step, think, *request.asked)
        except StopIteration:
            del self._under_way[user]
        except BaseException as error:
            del self._under_way[user]
            if not isinstance(error, Exception):
                raise
            return _failed(error)
        try:
            session.refuse_unawaited()
        except RuntimeError as error:
            return _failed(error)
        return None


def _next_request(coroutine: Coroutine[Any, Any, object], answer: Optional[Response]) -> tuple[int, Request]:
    """Steps a coroutine to its next request. Returns the think time before that, too."""
    think = sleeps = 0
    asked = coroutine.send(answer)
    while True:
        if isinstance(asked, Request):
            return think, asked
        if not isinstance(asked, Sleep):
            asked = coroutine.throw(TypeError(_foreign(asked)))
            continue
        think, sleeps = min(think + asked.nanoseconds, LONGEST_THINK_NS), sleeps + 1
        if sleeps > MAX_SLEEPS:
            coroutine.close()
            raise RuntimeError(
                f"{MAX_SLEEPS} sleeps without a request between them; s.sleep plans think time and waits for nothing, so a "
                "loop around it has to make a request"
            )
        asked = coroutine.send(None)


def _foreign(asked: object) -> str:
    return f"a session can await s.get(...), s.sleep(...) and the like, and not {type(asked).__name__!r}: it has no event loop"


def _failed(error: Exception) -> Failed:
    causes = [(AssertionError, "assert"), (StatusError, "status"), (BodyTooLong, "body_too_long")]
    cause = next((cause for kind, cause in causes if isinstance(error, kind)), "raised")
    return cause, _why(error), error


def _why(error: Exception) -> str:
    """``KeyError: 'token' (shop.py, line 12)``, in one line."""
    text = " ".join("".join(traceback.format_exception_only(type(error), error)).split())
    if isinstance(error, RuntimeError) and "no running event loop" in text:
        text += "; a session has none: await s.get(...), s.sleep(...) and the like"
    if len(text) > LONGEST_WHY:
        text = text[:LONGEST_WHY] + "…"
    text = text.encode(errors="replace").decode()
    here = FilePath(__file__).parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if FilePath(frame.filename).parent != here]
    if not frames:
        return text
    return f"{text} ({FilePath(frames[-1].filename).name}, line {frames[-1].lineno})"


def flow(
    session: SessionFunction,
    origin: Union[str, Iterable[str]],
    rate: Optional[Rate] = None,
    duration: Optional[Time] = None,
    warmup: Time = 0,
    *,
    steps: Iterable[str],
    sessions: Optional[int] = None,
    spacing: Spacing = "even",
    seed: int = 1,
    headers: HeadersLike = (),
    resolve: Iterable[str] = (),
    http2: bool = False,
    max_streams: Optional[int] = None,
    insecure: bool = False,
    ca: Optional[Path] = None,
    cert: Optional[Path] = None,
    key: Optional[Path] = None,
    connections: Optional[int] = None,
    connection_per_session: bool = False,
    timeout: Optional[Time] = "30s",
    drain: Time = "30s",
    threads: int = 1,
    preflight: bool = True,
    slo: Iterable[str] = (),
    fail_if: Iterable[str] = (),
    allow_errors: bool = False,
    progress: bool = False,
) -> Result:
    """Sessions arrive at ``origin`` on a schedule, and ``session``, an ``async def`` function, says what each of them does.

        async def shop(s):
            answer = await s.post("/login", step="login", json={"user": "ann"})
            await s.sleep("2s")
            await s.get("/items", step="list", headers={"X-Token": answer.json()["token"]})

        result = truetail.flow(shop, "http://127.0.0.1:8080", rate=20, duration="30s", steps=["login", "list"])

    The engine is that of ``truetail run --flow``, with the same times and books: ``Result.sessions`` has them. What the function
    itself takes makes its requests late; that is generator lag, and no time of the server's.

    ``session``         called with a :class:`Session` once for each session. It can await what that offers, and nothing else
    ``origin``          scheme, host and port of the requests. Where there are several, a list: ``s.get("/items")`` asks the first of
                        them, and ``s.get("https://api.shop.example/items")`` that one
    ``rate``            sessions per second, or a rate profile; ``duration``, ``warmup``, ``spacing`` and ``seed`` as in :func:`run`
    ``steps``           the names of all steps, in order. Each request belongs to one of them
    ``sessions``        the number of sessions; without ``duration`` it alone ends the run
    ``headers``         sent with every request
    ``connection_per_session``  a connection for each session, from its first request to its end, as a browser has; then
                        ``connections`` limits the sessions under way
    ``threads``         more than one share the interpreter's lock, and help only where little of the time is Python's
    ``preflight``       open a connection before the load, and raise ``ConnectionError`` if that fails
    ``slo``             what must hold, such as ``"session-time p99 < 2s"``, ``"p99{login} < 200ms"`` and ``"incomplete-sessions < 1%"``
    ``fail_if``         the opposite, such as ``"session-time p99 > 2s"``

    The other arguments are those of :func:`run`.
    """
    _refuse(session)
    names, fields = texts("steps", steps, "login"), header_pairs(headers)
    plan = FlowRun(
        session={
            "name": _name_of(session),
            "steps": names,
            "origins": [origin] if isinstance(origin, str) else texts("origin", origin, "http://127.0.0.1:8080"),
            "resolve": texts("resolve", resolve, "example.com:443:127.0.0.1"),
            "http2": http2,
            "make": lambda: Sessions(session, names, fields),
        },
        tls={"insecure": insecure, "ca": ca, "cert": cert, "key": key},
        rate=rate,
        duration=duration,
        warmup=warmup,
        sessions=sessions,
        spacing=spacing,
        seed=seed,
        connections=connections,
        connection_per_session=connection_per_session,
        max_streams=max_streams,
        timeout=timeout,
        drain=drain,
        threads=threads,
        preflight=preflight,
        slo=texts("slo", slo, "session-time p99 < 2s"),
        fail_if=texts("fail_if", fail_if, "session-time p99 > 2s"),
        allow_errors=allow_errors,
    )
    with shown(plan, progress):
        return result_of(plan.run())


def _refuse(session: object) -> None:
    if inspect.iscoroutine(session):
        session.close()
        raise TypeError("session: this is a coroutine, which runs once; pass the async function itself, without ()")
    target = session
    while isinstance(target, functools.partial):
        target = target.func
    if not any(inspect.iscoroutinefunction(kind) for kind in (target, getattr(target, "__call__", None))):
        raise TypeError(f"session: {type(session).__name__!r} is no async function; write 'async def session(s): ...'")


def _name_of(session: object) -> str:
    target = session
    while isinstance(target, functools.partial):
        target = target.func
    return str(getattr(target, "__name__", type(target).__name__))
