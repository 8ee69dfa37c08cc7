#!/usr/bin/env python3
"""Compares a message over WebSocket with a request over HTTP/1.1: bench/websocket.py --help.

    cargo build --release -p truetail -p truetail-bench && tools/install.sh websocket-go && bench/websocket.py

The server runs on processor 0, and truetail, with one thread, on processor 1. Messages go to the echo of gorilla/websocket in tests/websocket, and
requests to bench-server, over 50 connections each. Printed are the CPU time of truetail for each, which is the difference between a run and one of a
tenth of its length, so that its start does not count, and the 99th percentile of the generator's lag.

Both take turns, in random order in each round, and only ratios of medians mean something. `--json FILE` writes every run.
"""

import json
import statistics
import subprocess
import sys

import machine

RATES = [10_000, 50_000]
TIMINGS = ["auto", "cheap"]
CONNECTIONS = 50
MESSAGE = '{"id":{{seq}}}'


class Echo:
    """The server of tests/websocket, on the server's processor."""

    def __init__(self):
        program = machine.program("truetail-websocket-go") or sys.exit("the echo is missing; to install it: tools/install.sh websocket-go")
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, preexec_fn=machine.pinned(machine.SERVER_CPU))
        self.url = f"ws://{self.process.stdout.readline().strip()}/"

    def end(self):
        self.process.kill()
        self.process.wait()


def run(url, rate, timing, seconds, more):
    command = [machine.TARGET / "truetail", "run", url, "-r", rate, "-c", CONNECTIONS, "-d", f"{round(seconds * 1000)}ms", "--timing", timing, "--threads", 1,
               "--json", "--quiet", "--no-save", "--no-preflight", *more]
    result = machine.measured(command)
    if result["exit"] != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {result['exit']}: {result['err'] or result['out'][:500]}")
    said = json.loads(result["out"])
    lag = next(row["value_ns"] for row in said["generator_lag"]["quantiles"] if row["q"] == 0.99)
    return {"answers": said["tally"]["responses"], "cpu_s": result["cpu_s"], "lag_p99_us": lag / 1e3, "preemptions": result["preemptions"]}


def once(url, rate, timing, seconds, more):
    short, long = (run(url, rate, timing, length, more) for length in (seconds / 10, seconds))
    return {**long, "us": (long["cpu_s"] - short["cpu_s"]) / (long["answers"] - short["answers"]) * 1e6}


def main():
    asked = machine.asked(__doc__, 5)
    found = {}
    for rate in RATES:
        for timing in TIMINGS:
            servers = {"HTTP/1.1 request": machine.Server(), "WebSocket message": Echo()}
            more = {"HTTP/1.1 request": [], "WebSocket message": ["--data", MESSAGE]}
            try:
                runs = machine.in_turns(asked.rounds, servers, lambda name: once(servers[name].url, rate, timing, asked.seconds, more[name]))
            finally:
                for server in servers.values():
                    server.end()
            found[f"{rate}/s {timing}"] = runs
            median = lambda name, key: statistics.median(one[key] for one in runs[name])
            print(f"{rate:,}/s, {timing}")
            for name in runs:
                print(f"  {name:20}{median(name, 'us'):>8.2f} us of CPU{median(name, 'lag_p99_us'):>9.0f} us of lag at p99")
            print(f"  WebSocket / HTTP/1.1: CPU {median('WebSocket message', 'us') / median('HTTP/1.1 request', 'us'):.2f}", flush=True)
    machine.report(found, asked.json)


if __name__ == "__main__":
    main()
