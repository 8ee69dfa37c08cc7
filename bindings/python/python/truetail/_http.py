"""HTTP, messages and gRPC calls under load."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional, Union

from truetail._arguments import header_pairs, pair, texts
from truetail._channel import content, paths, time_words, words
from truetail._interrupt import result_of
from truetail._native import HttpRun, Result
from truetail._progress import shown
from truetail._types import Feed, HeadersLike, LlmApi, Model, Path, Rate, Spacing, StampUnit, StreamKind, Time


def run(
    url: Optional[str] = None,
    rate: Optional[Rate] = None,
    duration: Optional[Time] = None,
    warmup: Time = 0,
    *,
    requests: Optional[int] = None,
    spacing: Spacing = "even",
    seed: int = 1,
    model: Model = "open",
    users: Optional[Union[int, str]] = None,
    think_time: Optional[Time] = None,
    session_length: Optional[int] = None,
    method: Optional[str] = None,
    headers: HeadersLike = (),
    data: Union[str, bytes, None] = None,
    user: Optional[tuple[str, str]] = None,
    targets: Optional[Path] = None,
    data_from: Optional[Path] = None,
    feed: Feed = "in-order",
    resolve: Iterable[str] = (),
    unix_socket: Optional[Path] = None,
    http2: bool = False,
    max_streams: Optional[int] = None,
    keepalive: bool = True,
    insecure: bool = False,
    ca: Optional[Path] = None,
    cert: Optional[Path] = None,
    key: Optional[Path] = None,
    stream: Optional[StreamKind] = None,
    llm: Optional[LlmApi] = None,
    slo: Iterable[str] = (),
    stall: Optional[Time] = None,
    idle_timeout: Optional[Time] = None,
    end_mark: Optional[str] = None,
    framing: Optional[str] = None,
    match: Optional[str] = None,
    data_hex: Optional[str] = None,
    command: Optional[str] = None,
    hello: Optional[Path] = None,
    subscribe: Optional[Path] = None,
    stamp: Optional[str] = None,
    stamp_unit: Optional[StampUnit] = None,
    clock_bound: Optional[Time] = None,
    proto: Union[Path, Iterable[Path]] = (),
    import_path: Union[Path, Iterable[Path]] = (),
    protoset: Optional[Path] = None,
    deadline: Optional[Time] = None,
    message_gap: Optional[Time] = None,
    channel: bool = False,
    connections: Optional[int] = None,
    connection_per_session: bool = False,
    timeout: Optional[Time] = "30s",
    drain: Time = "30s",
    threads: Optional[int] = None,
    preflight: bool = True,
    fail_if: Iterable[str] = (),
    checks: Iterable[str] = (),
    allow_errors: bool = False,
    progress: bool = False,
) -> Result:
    """Sends requests to ``url`` on a schedule, and measures each one from its intended start.

    A request is one of HTTP, a message on a channel (``ws://``, ``wss://``, ``tcp://``, ``tls://``, ``redis://``, ``rediss://``),
    or a gRPC call (``grpc://HOST:PORT/package.Service/Method``, ``grpcs://``).

    The engine is that of ``truetail run``, on native threads. ``rate`` (requests per second), ``duration``, ``warmup``,
    ``requests``, ``spacing`` and the load models work as in :func:`bench`.

    ``method``          default: ``"GET"``, or ``"POST"`` where there is a body
    ``data``            the body; of a message its content, which on a WebSocket is a text if it is a ``str``; for gRPC the message
                        in JSON
    ``user``            name and password for basic authentication; ``user:password@`` in the URL works too
    ``targets``         a file of several requests in place of ``url``, as for ``truetail run --targets``
    ``data_from``       a CSV or JSON lines file whose rows fill in ``{{name}}``, in the order ``feed``
    ``resolve``         ``"HOST:PORT:ADDRESS"``: connect to this address for that host and port
    ``unix_socket``     connect to this Unix socket
    ``http2``           use HTTP/2, with at most ``max_streams`` concurrent requests on one connection
    ``keepalive``       ``False``: open a new connection for each request
    ``insecure``        accept any certificate
    ``ca``              PEM file of certificates to trust in place of the system's: authorities, or the server's own
    ``cert``, ``key``   PEM files of the client certificate and of its private key
    ``stream``          read answers as streams: ``"sse"`` (server-sent events) or ``"chunks"``; ``Result.streams`` has their times
    ``llm``             read answers as those of a language model, ``"openai-chat"`` or ``"openai-completions"``, and ask for them
    ``slo``             what must hold, such as ``"p99 < 50ms"``; ``Result.gates`` says which do, and nothing is raised. With ``llm`` also
                        what each request must meet to count in goodput, such as ``"ttft < 200ms"``
    ``stall``           count gaps between events of at least this as stalls
    ``idle_timeout``    give up a stream that brings nothing for this long
    ``end_mark``        the data of the event without which a stream is unfinished; with ``llm`` it is ``"[DONE]"``
    ``framing``         the end of each message on ``tcp://`` and ``tls://``: ``"line"``, ``"crlf"``, ``"nul"``, ``"length:4be"``,
                        ``"fixed:64"``, ``"delimiter:HEX"`` or ``"fix"``
    ``match``           the message that a reply belongs to: ``"order"``, ``"json:/id"``, ``"bytes:OFFSET:LENGTH"``, ``"fix:TAG"``, or
                        ``"none"`` if messages have no replies
    ``data_hex``        the content of each message, in hexadecimal
    ``command``         the command for ``redis://``, such as ``"GET key:{{id}}"``
    ``hello``           a file with the exchange that opens each channel
    ``subscribe``       a file with the exchange that asks for pushes; ``Result.streams`` has their times
    ``stamp``           where pushes have the sender's time, such as ``"json:/ts"``, in ``stamp_unit``; ``clock_bound`` says by how much
                        the clocks may differ
    ``proto``           a ``.proto`` file with the service, or several; their imports begin in ``import_path``. Without it and
                        ``protoset``, a compiled schema, the server is asked for its schema
    ``deadline``        the time limit of a call, which the server learns too; it takes the place of ``timeout``
    ``message_gap``     the distance of the messages that a call sends, if the method takes a stream; without it they go at once
    ``channel``         send each arrival as a message on a bidirectional call that stays open; ``connections`` is the number of calls,
                        and ``match`` finds the reply to a message
    ``connections``     maximum number of connections; a request that finds none free waits, and the wait counts
    ``connection_per_session``  in the partly open model, a connection for each session, from its first request to its end; then
                        ``connections`` limits the sessions under way
    ``timeout``         time limit for each request, including the time to connect; ``None``: no limit
    ``threads``         default: what the load needs, at most one per CPU
    ``preflight``       send a trial request before the load, and raise ``ConnectionError`` if it is not answered; for streams it
                        is only a connection
    ``fail_if``         the opposite of ``slo``, such as ``"p99 > 50ms"``
    ``checks``          checks of every answer such as ``"status == 200"``; ``Result.checks`` counts them
    ``allow_errors``    do not call a run INVALID because every answer is an error or no request is answered
    """
    header_list = header_pairs(headers)
    user = pair("user", user)
    of_protocol: dict[str, Any] = {
        "framing": framing,
        "match": match,
        "command": command,
        "hello": hello,
        "subscribe": subscribe,
        "stamp": stamp,
        "stamp-unit": stamp_unit,
        "clock-bound": time_words("clock_bound", clock_bound),
        "proto": paths(proto),
        "import-path": paths(import_path),
        "protoset": protoset,
        "deadline": time_words("deadline", deadline),
        "message-gap": time_words("message_gap", message_gap),
        "channel": channel or None,
    }
    has_options = data_hex is not None or any(value is not None and value != [] for value in of_protocol.values())
    others: dict[str, Any] = {
        "method": method,
        "header": [f"{name}: {value}" for name, value in header_list],
        "user": None if user is None else ":".join(user),
        "targets": targets,
        "data-from": data_from,
        "feed": None if data_from is None and feed == "in-order" else feed,
        "seed": seed,
        "resolve": texts("resolve", resolve, "example.com:443:127.0.0.1"),
        "unix-socket": unix_socket,
        "http2": http2,
        "max-streams": max_streams,
        "no-keepalive": not keepalive,
        "insecure": insecure,
        "ca": ca,
        "cert": cert,
        "key": key,
        "stream": stream,
        "llm": llm,
        "stall": time_words("stall", stall),
        "idle-timeout": time_words("idle_timeout", idle_timeout),
        "end-mark": end_mark,
        "check": texts("checks", checks, "status == 200"),
    }
    plan = HttpRun(
        request={
            "url": url,
            "method": method,
            "headers": header_list,
            "data": data,
            "user": user,
            "targets": targets,
            "data_from": data_from,
            "feed": feed,
            "resolve": others["resolve"],
            "unix_socket": unix_socket,
            "http2": http2,
            "keepalive": keepalive,
        },
        channel={"words": words(url, {**others, **of_protocol, **content(url, data, data_hex)}), "has_options": has_options},
        tls={"insecure": insecure, "ca": ca, "cert": cert, "key": key},
        streams={
            "stream": stream,
            "llm": llm,
            "slo": texts("slo", slo, "p99 < 50ms"),
            "stall": stall,
            "idle_timeout": idle_timeout,
            "end_mark": end_mark,
        },
        rate=rate,
        duration=duration,
        warmup=warmup,
        requests=requests,
        spacing=spacing,
        seed=seed,
        model=model,
        users=users,
        think_time=think_time,
        session_length=session_length,
        connections=connections,
        connection_per_session=connection_per_session,
        max_streams=max_streams,
        timeout=timeout,
        drain=drain,
        threads=threads,
        preflight=preflight,
        fail_if=texts("fail_if", fail_if, "p99 > 50ms"),
        checks=others["check"],
        allow_errors=allow_errors,
    )
    with shown(plan, progress):
        return result_of(plan.run())
