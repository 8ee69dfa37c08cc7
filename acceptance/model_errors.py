#!/usr/bin/env python3
"""A language model whose every second answer has status 200 and ends with an error: `python3 acceptance/model_errors.py [PORT]` (9707).

The first part of the path says which error, such as /finish-error/v1/chat/completions; an unknown one gets the list. Every answer
begins with ten tokens, and the usage and [DONE] come last; events are 10 ms apart. Those at the end of /event-error-joined come at once.
The errors of /status-500 are plain answers with that status.
GET /counts tells how many requests of each kind came. docs/lab/06-model-that-stalls compares what load tools count.
"""

import asyncio
import json
import sys

TOKENS = 10
GAP_SECONDS = 0.01
MAX_HEAD, MAX_BODY = 1 << 16, 1 << 20


def event(value, kind=""):
    return (kind + "data: " + json.dumps(value) + "\n\n").encode()


def chunk(finish=None, text=None, **more):
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish, **more}
    return event({"id": "c", "object": "chat.completion.chunk", "model": "model", "choices": [choice]})


ERROR = {"message": "the backend is gone", "type": "server_error", "code": 502}
USAGE = event({"id": "c", "object": "chat.completion.chunk", "model": "model", "choices": [],
               "usage": {"prompt_tokens": 8, "completion_tokens": TOKENS, "total_tokens": 8 + TOKENS}})
DONE = b"data: [DONE]\n\n"
EVENT_ERROR = event({"error": ERROR}, "event: error\n")
ENDS = {
    "good": chunk("stop"),
    "event-error": EVENT_ERROR,
    "event-error-joined": EVENT_ERROR + USAGE + DONE,
    "top-error": event({"error": ERROR}),
    "choice-error": chunk("error", error=ERROR),
    "finish-error": chunk("error"),
    "finish-abort": chunk("abort"),
}
COUNTS = dict.fromkeys([*ENDS, "status-500"], 0)


def plain(status, value):
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def stream(writer, end):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    last = [end] if end.endswith(DONE) else [end, USAGE, DONE]
    for data in [chunk(text="one ")] * TOKENS + last:
        await asyncio.sleep(GAP_SECONDS)
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
    writer.write(b"0\r\n\r\n")


async def answer(reader, writer):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    method, path, _ = head.split(" ", 2)
    fields = dict(line.lower().split(":", 1) for line in head.split("\r\n")[1:] if ":" in line)
    length = int(fields.get("content-length", 0))
    if length > MAX_BODY:
        raise ValueError("the body is too long")
    await reader.readexactly(length)
    kind = path.split("/")[1]
    if method == "GET":
        counts = path.startswith("/counts")
        writer.write(plain("200 OK", COUNTS if counts else {"object": "list", "data": [{"id": "model"}]}))
    elif kind not in COUNTS:
        writer.write(plain("404 Not Found", {"kinds": list(COUNTS)}))
    else:
        COUNTS[kind] += 1
        if COUNTS[kind] % 2 == 1:
            await stream(writer, ENDS["good"])
        elif kind in ENDS:
            await stream(writer, ENDS[kind])
        else:
            writer.write(plain("500 Internal Server Error", {"error": ERROR}))
    await writer.drain()


async def connection(reader, writer):
    try:
        while True:
            await answer(reader, writer)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        pass
    finally:
        writer.close()


async def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9707
    async with await asyncio.start_server(connection, "127.0.0.1", port, limit=MAX_HEAD) as server:
        print(f"listening on http://127.0.0.1:{port}", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
