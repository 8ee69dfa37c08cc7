#!/usr/bin/env python3
"""Instructions a request that options add, counted by valgrind's callgrind: bench/extras.py --help.

    RUSTFLAGS='--cfg rustix_use_libc' cargo build --profile profiling -p truetail --features truetail-engine/portable,truetail/script && bench/extras.py

    without            no option; the server's answers have a Server-Timing header with three times that differ from one to the next
    --trace            each request has an id of its own in traceparent
    --server-timing    each answer's header is read
    1 time             the same two with one time in the header
    + id               the same two with three times, and with a header that is new in each answer before them
    --script           request() formats a path from a count with wrk.format, as in scripts.py; without the feature, this is left out
    --script, header   the same, and the count is also a header
    --llm              answers of a language model, of 100 and of 200 events that come together; the difference is what 100 events cost

One user sends one request after the other to a server on loopback, N and then 2N of them. The instructions of the worker's thread in the longer run,
less those in the shorter one, divided by N, are those of a request: sending, waiting, reading and recording, without what the kernel does.
What is computed after the run is not in them, nor what the recorder does for each value that is new in a second. Functions that only an option
calls are counted by themselves too. Valgrind hides the vDSO and does not know epoll_pwait2. So the build is the one for other Unix systems, and
makes system calls through the C library, where a few lines of C (cc) put epoll_pwait in place of it.
`--json FILE` keeps the figures.
"""

import argparse
import json
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import machine
from scripts import SCRIPT

SHIM = """#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *wait, const sigset_t *mask) {
    int ms = wait ? (int)(wait->tv_sec * 1000 + (wait->tv_nsec + 999999) / 1000000) : -1;
    return epoll_pwait(fd, events, most, ms, mask);
}
"""
PROGRAM = machine.TARGET.parent / "profiling/truetail"
TIMING = ["--server-timing"]
# A worker that looks for answers before it sleeps takes instructions for as long as the server takes time.
NO_LOOKS = ["--timing", "cheap"]
LLM = ["--llm", "openai-chat", "--data", '{"model":"m","messages":[]}']
HEADER_SCRIPT = SCRIPT.replace("  return", '  wrk.headers["X-Counter"] = count\n  return')
# Functions that only these cases call, for each request or answer.
CALLED = {"--server-timing": r"TimingObserver as .*AnswerReader>::\w+$", "--trace": r"TraceIds::write$"}
# Functions that take the longer the more different times there are. They are left out: by them alone, equal runs differ by hundreds of instructions.
OF_VALUES = r"IntervalRecorder::cool$|record::sparse::"
# Options and path of each case, and the case that it is compared with.
CASES = {
    "without": ([], "", None),
    "--trace": (["--trace"], "", "without"),
    "--server-timing": (TIMING, "", "without"),
    "1 time": ([], "one", None),
    "--server-timing, 1 time": (TIMING, "one", "1 time"),
    "+ id": ([], "id", None),
    "--server-timing, + id": (TIMING, "id", "+ id"),
    "--script": (SCRIPT, "", "without"),
    "--script, header": (HEADER_SCRIPT, "", "without"),
    "--llm, 100 events": (LLM, "events100", None),
    "--llm, 200 events": (LLM, "events200", "--llm, 100 events"),
}


def serve(listener):
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=answer, args=(stream,), daemon=True).start()


def served():
    """Starts the server as a process on its processor, which ends with this one. Returns its URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(target=serve, args=(listener,), daemon=True)
    server.start()
    os.sched_setaffinity(server.pid, {machine.SERVER_CPU})
    return f"http://127.0.0.1:{listener.getsockname()[1]}/"


def streamed(events):
    """Returns an answer of a language model with this number of tokens."""
    token = b'data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n'
    end = b'data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    body = token * events + end
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def answer(stream):
    number, rest = 0, b""
    while got := stream.recv(65536):
        rest += got
        *heads, rest = rest.split(b"\r\n\r\n")
        for head in heads:
            number += 1
            # The body of a request is before the head of the next one.
            if events := re.search(rb" /events(\d+) HTTP", head):
                stream.sendall(streamed(int(events.group(1))))
                continue
            timing = f"edge;dur={number % 97 / 10:04.1f}"
            if not head.startswith(b"GET /one"):
                timing += f", app;dur={number % 89 / 10:04.1f}, db;dur={number % 83 / 10:04.1f}"
            request_id = f"X-Request-Id: {number * 0x9E3779B97F4A7C15 % 2**64:016x}\r\n" if head.startswith(b"GET /id") else ""
            stream.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n{request_id}Server-Timing: {timing}\r\n\r\nok".encode())


def shim(folder):
    """Compiles SHIM, and returns the environment that loads it."""
    library = Path(folder) / "shim.so"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O2", "-x", "c", "-", "-o", str(library)], input=SHIM, text=True, check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


def one_user(requests):
    """The options of a run in which one user sends this number of requests."""
    return ["--model", "closed", "--users", 1, "-n", requests, "--threads", 1, "--quiet", "--no-save", "--no-preflight", "--json"]


def closed_loop(program, url, extra, requests):
    """A run of one user, as machine.measured returns it."""
    ran = machine.measured([program, "run", url, *extra, *one_user(requests)])
    if json.loads(ran["out"])["tally"]["responses"] != requests:
        sys.exit(f"not all requests were answered: {ran['err'][-500:]}")
    return ran


def called(text, pattern):
    """Instructions in functions whose names match, with what is inlined there and what they call; text is of callgrind."""
    names, of, is_call = {}, {}, False
    for line in text.splitlines():
        if found := re.match(r"(c?fn)=(\(\d+\))(?: (.*))?", line):
            kind, number, name = found.groups()
            name = names.setdefault(number, name)
            if kind == "fn":
                inside = name
            else:
                callee = name
        elif line.startswith("calls="):
            is_call = True
        elif cost := re.match(r"[-+*\d]\S* (\d+)$", line):
            # The line after a call has the instructions of the callee, which may match too.
            if not (is_call and re.search(pattern, callee)):
                of[inside] = of.get(inside, 0) + int(cost.group(1))
            is_call = False
    return sum(count for name, count in of.items() if re.search(pattern, name))


def workers_instructions(run, requests, folder, environment, pattern):
    """Instructions of the thread that sends, whose name is truetail-0, and those of them in functions of this pattern."""
    out = Path(folder) / f"{requests}.callgrind"
    command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}", *run, *NO_LOOKS, *one_user(requests)]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)
    if ran.returncode not in (0, 3, 4) or json.loads(ran.stdout)["tally"]["responses"] != requests:
        sys.exit(f"{' '.join(map(str, command))} failed (exit {ran.returncode}): {ran.stderr[-500:]}")
    found = {}
    for file in Path(folder).glob(f"{out.name}-*"):
        text = file.read_text()
        if "Worker" in text and (total := re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)):
            found[int(total.group(1)) - called(text, OF_VALUES)] = called(text, pattern) if pattern else 0
        file.unlink()
    # The other threads wait.
    return max(found.items())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--requests", type=int, default=4000, help="N")
    options.add_argument("--json", metavar="FILE")
    options.add_argument("--only", metavar="WORD", default="", help="only cases whose names contain it, and those that they are compared with")
    options.add_argument("--program", type=Path, default=PROGRAM, help="another build")
    asked = options.parse_args()
    if not asked.program.exists():
        sys.exit(f"{asked.program} is missing; see --help")
    version = json.loads(subprocess.run([asked.program, "--version", "--json"], capture_output=True, text=True, check=True).stdout)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = shim(folder)
        chosen = {name for name in CASES if asked.only in name}
        chosen |= {CASES[name][2] for name in chosen}
        for name, (extra, path, beside) in CASES.items():
            if name not in chosen:
                continue
            if isinstance(extra, str):
                if "script" not in version["features"]:
                    continue
                script = Path(folder) / "script.lua"
                script.write_text(extra)
                extra = ["--script", script]
            command = [asked.program, "run", url + path, *extra]
            pattern = CALLED.get(name.split(",")[0])
            once, twice = (workers_instructions(command, number, folder, environment, pattern) for number in (asked.requests, 2 * asked.requests))
            figures[name], within = ((after - before) / asked.requests for before, after in zip(once, twice))
            before = figures.get(beside)
            more = f"  ({figures[name] - before:+.1f}, {figures[name] / before - 1:+.1%})" if before else ""
            more += f"; {within:.1f} in its own functions" if pattern else ""
            print(f"  {name:26}{figures[name]:>9.1f} instructions a request{more}", flush=True)
    if asked.json:
        Path(asked.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
