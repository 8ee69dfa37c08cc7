#!/usr/bin/env python3
"""Compares two builds of truetail in closed loops that share processors with their server: bench/looks.py --before PROGRAM.

    cargo build --release -p truetail -p truetail-bench && tools/install.sh redis node && bench/looks.py --before PROGRAM

Server and client run on the same processors, one or both, without and beside a program on each that never sleeps: a worker that looks for answers
rather than sleeps must not take the time of the server. Servers are Redis (PING) and Node.js (a small answer over HTTP). Printed are medians of requests a
second and of the 99th percentile of the response time, before and after. Builds take turns. `--json FILE` writes every run.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import machine
import redis

BOTH = f"{machine.SERVER_CPU},{machine.CLIENT_CPU}"
ONE = str(machine.SERVER_CPU)
NODE = 'const s = require("http").createServer((q, r) => r.end("ok")); s.listen(0, "127.0.0.1", () => console.log(s.address().port))'
SECONDS = 2
# Server, processors, programs beside it that never sleep, users, connections.
CASES = [("redis", BOTH, 0, 1, 1), ("redis", BOTH, 0, 16, 1), ("redis", BOTH, 0, 64, 64), ("redis", ONE, 0, 1, 1), ("redis", ONE, 0, 16, 1),
         ("node", BOTH, 0, 1, 1), ("node", BOTH, 0, 4, 4), ("node", ONE, 0, 1, 1), ("node", ONE, 0, 4, 4),
         ("redis", BOTH, 2, 1, 1), ("redis", BOTH, 2, 16, 16), ("node", BOTH, 2, 1, 1)]


def started(server, processors, folder):
    """The process of a server on these processors, and the arguments that name it."""
    pinned = ["taskset", "-c", processors]
    if server == "redis":
        port = redis.free_port()
        command = [redis.need("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen(pinned + command, stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        return process, [f"redis://127.0.0.1:{port}", "--command", "PING"]
    process = subprocess.Popen(pinned + [redis.need("node"), "-e", NODE], stdout=subprocess.PIPE, text=True)
    return process, [f"http://127.0.0.1:{process.stdout.readline().strip()}/"]


def measured(program, load, processors, users, connections):
    command = ["taskset", "-c", processors, program, "run", *load, "--model", "closed", "--users", str(users), "-c", str(connections), "-d", f"{SECONDS}s",
               "--json", "--quiet", "--no-save", "--no-preflight"]
    ran = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    quantiles = {row["q"]: row["value_ns"] for row in ran["response_time"]["quantiles"]}
    return {"per_second": ran["tally"]["responses"] / SECONDS, "p99_us": quantiles[0.99] / 1e3}


def compared(case, builds, rounds, folder):
    server, processors, busy, users, connections = case
    process, load = started(server, processors, folder)
    loops = [subprocess.Popen(["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"]) for cpu in BOTH.split(",")[:busy]]
    runs = {name: [] for name in builds}
    try:
        for _ in range(rounds):
            for name, program in builds.items():
                runs[name].append(measured(program, load, processors, users, connections))
    finally:
        for child in [process, *loops]:
            child.kill()
            child.wait()
    return runs


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--before", required=True, help="the build to compare with")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    builds = {"before": os.path.abspath(asked.before), "after": str(machine.TARGET / "truetail")}
    found = {}
    print(f"  {'server':7}{'processors':>11}{'loops':>6}{'users':>6}{'connections':>12}{'requests/s':>20}{'p99, us':>16}")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            runs = compared(case, builds, asked.rounds, folder)
            found["{} on {}, {} loops, {} users, {} connections".format(*case)] = runs
            pair = lambda key: ", ".join(f"{statistics.median(run[key] for run in runs[name]):,.0f}" for name in builds)
            server, processors, busy, users, connections = case
            print(f"  {server:7}{processors:>11}{busy:>6}{users:>6}{connections:>12}{pair('per_second'):>20}{pair('p99_us'):>16}", flush=True)
    if asked.json:
        Path(asked.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
