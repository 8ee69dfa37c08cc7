#!/usr/bin/env python3
"""What watching a run costs it: arrival lag without a watcher, with --live and a scrape a second, with an open live page, and
with --watch, in turns: bench/live.py --help.

Runs as bench/run.py does: truetail with one worker on processor 1, with all its other threads, against a minimal server on
processor 0, which notes when its kernel saw each request. In each round every way runs once, in random order.

What watches does so every second, while a shared host takes the processor away whenever it likes: some seconds are spoilt by it, and
with them the p99 of a whole run. So the figure is the p99 of each second, and the ways are compared by the quiet seconds: the one
that a tenth, a quarter and half of all seconds stay below. The quarter decides; where the half says otherwise, the host was too busy.
"""

import argparse
import contextlib
import fcntl
import json
import os
import pty
import random
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.request
from pathlib import Path

import machine
import run

RATE = 50_000
# How much of the p99 a watcher may add.
ALLOWED = 1.20


def plain(options):
    return [], contextlib.nullcontext


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@contextlib.contextmanager
def clients(port, page, seen):
    """Scrapes /metrics once a second, and holds the events of the page open if `page`, until it is left."""
    left = threading.Event()

    def scrape():
        while not left.wait(1):
            with contextlib.suppress(OSError):
                seen["scrapes"] += len(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read()) > 1000

    def follow():
        while not left.wait(0.2):
            with contextlib.suppress(OSError):
                for line in urllib.request.urlopen(f"http://127.0.0.1:{port}/events", timeout=30):
                    seen["events"] += line.startswith(b"event:")
                return

    threads = [threading.Thread(target=work, daemon=True) for work in ([scrape, follow] if page else [scrape])]
    for thread in threads:
        thread.start()
    yield
    left.set()
    for thread in threads:
        thread.join(10)


def live(page):
    def flags(options):
        port = free_port()
        return ["--live", f"127.0.0.1:{port}"], lambda: clients(port, page, options.seen)
    return flags


def watch(options):
    return ["--watch"], contextlib.nullcontext


def controlling_terminal():
    """In the new process: makes its standard input the terminal that it can open as its own, which --watch needs."""
    machine.pinned(machine.CLIENT_CPU)()
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def offered(command, terminal):
    """Runs truetail, in a terminal of its own if `terminal`, and gives its involuntary context switches a second."""
    began = time.monotonic()
    if terminal:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        process = subprocess.Popen([str(part) for part in command], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm-256color"}, preexec_fn=controlling_terminal)
        os.close(theirs)
        # A terminal that is not read would hold the program up.
        with contextlib.suppress(OSError):
            while os.read(ours, 65536):
                pass
    else:
        process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=machine.pinned(machine.CLIENT_CPU))
        process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_nivcsw / (time.monotonic() - began)


def one_run(way, flags, options):
    """One run between two gates."""
    more, context = flags(options)
    before = machine.gate()
    stamps = options.out / "stamps"
    folder = options.out / "run"
    server = machine.Server(str(stamps))
    command = [machine.TARGET / "truetail", "run", server.url, "--threads", 1, "--no-preflight", "-r", RATE, "-d", f"{options.seconds}s", "-c", 64, "--out", folder, "--force", *([] if way == "--watch" else ["--quiet"]), *more]
    try:
        with context():
            code, switches = offered(command, way == "--watch")
        seen = server.end()
    except BaseException:
        server.process.kill()
        raise
    after = machine.gate()
    if code not in (0, 4):
        sys.exit(f"{way}: truetail ended with exit code {code}: {' '.join(map(str, command))}")
    trips = sorted([before["round_trip_ns"], after["round_trip_ns"]])
    level = "mixed" if trips[1] > trips[0] * machine.SAME_LEVEL else "far" if trips[0] >= machine.FAR_FROM_NS else "near"
    lags = run.lags_us(seen, RATE, False)
    tally = json.loads((folder / "run.json").read_text())["tally"]
    seconds = [run.at(lags[first : first + RATE], 0.99) for first in range(0, len(lags) - RATE + 1, RATE)]
    return {"way": way, "level": level, "switches_per_s": switches, "responses": tally["responses"], "p99_of_seconds_us": seconds, "p99_us": statistics.median(seconds), **{f"whole_p{q}_us": run.at(lags, q / 100) for q in (50, 99, 99.9)}}


def has_watch():
    said = subprocess.run([machine.TARGET / "truetail", "run", "--help"], capture_output=True, text=True).stdout
    return "--watch" in said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="runs in each way [9]")
    parser.add_argument("--seconds", type=int, default=10, help="length of a run [10]")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "bench/results" / time.strftime("%Y-%m-%d"))
    parser.add_argument("--no-build", action="store_true", help="measure the release build that is there")
    options = parser.parse_args()
    options.seen = {"scrapes": 0, "events": 0}
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.no_build:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "-p", "truetail", "-p", "truetail-bench"], cwd=machine.ROOT, check=True)
    ways = {"alone": plain, "--live, scraped": live(False), "--live, scraped, page open": live(True)}
    if has_watch():
        ways["--watch"] = watch
    rounds = []
    for number in range(options.rounds):
        runs = {way: one_run(way, ways[way], options) for way in random.sample(list(ways), len(ways))}
        rounds.append(list(runs.values()))
        print(f"round {number + 1}: " + ", ".join(f"{way} {runs[way]['p99_us']:.1f} ({runs[way]['level']})" for way in ways), flush=True)
    if not options.seen["scrapes"] or not options.seen["events"]:
        sys.exit(f"nobody watched: {options.seen}")
    table, failed = [], False
    seconds = {way: sorted(second for one in rounds for figures in one if figures["way"] == way for second in figures["p99_of_seconds_us"]) for way in ways}
    for way in ways:
        quiet = {name: run.at(seconds[way], q) for name, q in (("10 %", 0.1), ("25 %", 0.25), ("50 %", 0.5))}
        ratios = {name: value / run.at(seconds["alone"], q) for (name, value), q in zip(quiet.items(), (0.1, 0.25, 0.5))}
        failed |= ratios["25 %"] > ALLOWED
        table.append({"way": way, "seconds": len(seconds[way]), "p99_us": quiet, "ratio": ratios})
        print(f"  {way:28} " + ", ".join(f"{name} of {len(seconds[way])} seconds below {quiet[name]:7.1f} us, x {ratios[name]:.2f}" for name in quiet))
    result = {"versions": machine.versions(), "rate": RATE, "seconds": options.seconds, "seen": options.seen, "rounds": rounds, "table": table}
    (options.out / "live.json").write_text(json.dumps(result, indent=1) + "\n")
    (options.out / "stamps").unlink(missing_ok=True)
    # The folder of the last run: no part of the results.
    shutil.rmtree(options.out / "run", ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
