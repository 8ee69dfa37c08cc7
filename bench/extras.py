#!/usr/bin/env python3
"""Instructions a request that options add, counted by valgrind's callgrind: bench/extras.py --help.

    RUSTFLAGS='--cfg rustix_use_libc' cargo build --profile profiling -p truetail --features truetail-engine/portable && bench/extras.py

    without        no option; the server's answers have a Server-Timing header that differs from one to the next
    --trace        each request has an id of its own in traceparent
    --server-timing    each answer's header is read

One user sends one request after the other to a server on loopback, N and then 2N of them. The instructions of the worker's thread in the longer run,
less those in the shorter one, divided by N, are those of a request: sending, waiting, reading and recording, without what the kernel does.
What is computed after the run is not in them. Valgrind hides the vDSO and does not know epoll_pwait2. So the build is the one for other Unix systems, and
makes system calls through the C library, where a few lines of C (cc) put epoll_pwait in place of it.
`--json FILE` keeps the figures.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import machine

SHIM = """#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *wait, const sigset_t *mask) {
    int ms = wait ? (int)(wait->tv_sec * 1000 + (wait->tv_nsec + 999999) / 1000000) : -1;
    return epoll_pwait(fd, events, most, ms, mask);
}
"""
PROGRAM = machine.TARGET.parent / "profiling/truetail"
CASES = {"without": [], "--trace": ["--trace"], "--server-timing": ["--server-timing"]}


def serve(listener):
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=answer, args=(stream,), daemon=True).start()


def answer(stream):
    number, rest = 0, b""
    while got := stream.recv(65536):
        rest += got
        *heads, rest = rest.split(b"\r\n\r\n")
        for _ in heads:
            number += 1
            timing = f"edge;dur={number % 97 / 10:04.1f}, app;dur={number % 89 / 10:04.1f}, db;dur={number % 83 / 10:04.1f}"
            stream.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nServer-Timing: {timing}\r\n\r\nok".encode())


def shim(folder):
    """Compiles SHIM, and returns the environment that loads it."""
    library = Path(folder) / "shim.so"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O2", "-x", "c", "-", "-o", str(library)], input=SHIM, text=True, check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


def workers_instructions(url, requests, options, folder, environment):
    """Instructions of the thread that sends, whose name is truetail-0."""
    out = Path(folder) / f"{requests}.callgrind"
    command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}", PROGRAM, "run", url, "--model", "closed", "--users", 1,
               "-n", requests, "--threads", 1, "--quiet", "--no-save", "--no-preflight", "--json", *options]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)
    if ran.returncode not in (0, 3, 4) or json.loads(ran.stdout)["tally"]["responses"] != requests:
        sys.exit(f"{' '.join(map(str, command))} failed (exit {ran.returncode}): {ran.stderr[-500:]}")
    found = {}
    for file in Path(folder).glob(f"{out.name}-*"):
        text = file.read_text()
        if "Worker" in text and (total := re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)):
            found[file.name] = int(total.group(1))
        file.unlink()
    # The other threads wait.
    return max(found.values())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--requests", type=int, default=4000, help="N")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing; see --help")
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = shim(folder)
        for name, extra in CASES.items():
            once, twice = (workers_instructions(url, number, extra, folder, environment) for number in (asked.requests, 2 * asked.requests))
            figures[name] = (twice - once) / asked.requests
            more = f"  ({figures[name] / figures['without'] - 1:+.1%})" if extra else ""
            print(f"  {name:16}{figures[name]:>9.1f} instructions a request{more}", flush=True)
    if asked.json:
        Path(asked.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
