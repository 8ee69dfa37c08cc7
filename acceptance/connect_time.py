#!/usr/bin/env python3
"""Does a timing lengthen connecting? Every timing, without keep-alive, plain and over TLS, at 10, 50 and 200 requests a second.

    cargo build --release -p truetail -p truetail-bench && python3 acceptance/connect_time.py [--seconds N] [--rounds N]

The median connect time of each timing has to be within 0.3 ms of `balanced`'s: a tick is 1 ms, and the sleep between two
requests 5 to 20 ms, so a timing that bills either to connecting is far out. For a quiet machine; the exit code is 0 if all
hold. Traffic stays on loopback.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).resolve().parent.parent / "target")) / "release"
TRUETAIL = os.environ.get("TRUETAIL", TARGET / "truetail")
SERVERS = {"plain": "bench-server", "TLS": "bench-tls-server"}
RATES = (10, 50, 200)
TIMINGS = ("balanced", "auto", "cheap", "precise")
WITHIN_MS = 0.3


def connect_ms(url, rate, timing, seconds):
    """The median connect time of one run, in milliseconds."""
    command = [TRUETAIL, "run", url, "-r", rate, "-d", f"{seconds}s", "--no-keepalive", "--insecure", "--timing", timing, "--json", "--quiet", "--no-save"]
    if url.startswith("http://"):
        command.remove("--insecure")
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if not ran.stdout.startswith("{"):
        sys.exit(f"{timing} at {rate}/s: no run.json, exit code {ran.returncode}: {ran.stderr.strip()}")
    found = json.loads(ran.stdout)
    tally, connects = found["tally"], found["connect_time"]
    if not tally["planned"] == tally["responses"] == connects["count"] > 0:
        sys.exit(f"{timing} at {rate}/s: not every request was answered on a connection of its own: {tally}")
    return next(row["value_ns"] for row in connects["quantiles"] if row["q"] == 0.5) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5, help="length of a run [5]")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each timing, in turns; their median counts [3]")
    options = parser.parse_args()
    failed = 0
    print("connect time p50, ms  " + "  ".join(f"{timing:>9}" for timing in TIMINGS))
    for name, program in SERVERS.items():
        server = subprocess.Popen([TARGET / program, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            for rate in RATES:
                rounds = [[connect_ms(url, rate, timing, options.seconds) for timing in TIMINGS] for _ in range(options.rounds)]
                medians = dict(zip(TIMINGS, map(statistics.median, zip(*rounds))))
                holds = all(abs(median - medians["balanced"]) <= WITHIN_MS for median in medians.values())
                failed += not holds
                print(f"{name:>6} {rate:>5}/s  {'ok  ' if holds else 'FAIL'}     " + "  ".join(f"{median:9.3f}" for median in medians.values()), flush=True)
        finally:
            server.kill()
            server.wait()
    print(f"{failed} of {len(SERVERS) * len(RATES)} failed" if failed else "all hold")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
