#!/usr/bin/env python3
"""A Redis that sleeps for a second: what do load tools say of it, beside the truth?

    cargo build --release -p truetail && tools/install.sh redis && python3 acceptance/redis.py [--page FILE] [--json FILE]

A real Redis server answers GET 500 times a second for 10 s. In the middle `DEBUG SLEEP 1` stops it for a second: it has one thread, so
nothing is answered. The truth follows from the schedule: a request that falls due in the sleep waits until it ends. The sleep ends when
`DEBUG SLEEP` returns, as Redis counts it in INFO commandstats.

truetail's p95, p99 and maximum must be within 1 % of that, its books must balance, and it must have sent as many commands as Redis
counted. p50 lies outside the sleep, where an answer takes as long as it takes: it must be less than 10 ms.

redis-benchmark meets the same sleep, with the same number of connections and with its default of 50. Nothing is required of it. It has no
rate, so it sends as many requests as it answered in as long before the sleep; the sleep comes after 2 s, because it may end early.

`--page FILE` writes the page of docs/lab. The exit code is 0 if all holds. Traffic stays on loopback.
"""

import argparse
import json
import math
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = Path(os.environ.get("TRUETAIL_TOOLS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "truetail/tools")
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
RATE, SECONDS, SLEEP_AT, SLEEP_S = 500, 10, 4.5, 1
# Its number of requests is an estimate, so the sleep comes early.
PEER_SLEEP_AT = 2
QUANTILES = [0.5, 0.95, 0.99, 0.999, 1]
WITHIN = 0.01
MAX_P50_MS = 10


def program(name):
    own = TOOLS / "bin" / name
    found = str(own) if own.exists() else shutil.which(name)
    return found or sys.exit(f"{name} is missing; to install it: tools/install.sh redis")


class Redis:
    def __init__(self, folder):
        self.port = free_port()
        command = [program("redis-server"), "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--dir", folder,
                   "--enable-debug-command", "local"]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while self.cli("ping", check=False).strip() != "PONG":
            if time.monotonic() > deadline:
                sys.exit("redis-server does not answer")
            time.sleep(0.05)
        self.cli("set", "key:1", "value")
        self.cli("config", "resetstat")

    def cli(self, *words, check=True):
        command = [program("redis-cli"), "-p", str(self.port), *words]
        return subprocess.run(command, capture_output=True, text=True, check=check).stdout

    def counted(self, command):
        """Calls, and microseconds in them."""
        found = re.search(rf"cmdstat_{command}:calls=(\d+),usec=(\d+)", self.cli("info", "commandstats"))
        return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def redis():
    with tempfile.TemporaryDirectory() as folder:
        server = Redis(folder)
        try:
            yield server
        finally:
            server.process.kill()
            server.process.wait()


def asleep(server, command, after_s):
    """What a command printed while the server slept in its middle."""
    sleeper = threading.Timer(after_s, server.cli, ["debug", "sleep", str(SLEEP_S)])
    sleeper.start()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    sleeper.join()
    return done.stdout or sys.exit(f"{command[0]} failed: {done.stderr}")


def truth(sleep_ms):
    """Quantiles of the waits alone, in ms. Where in its gap the sleep begins moves them by at most one gap."""
    gap = 1e3 / RATE
    waits = sorted([0.0] * (RATE * SECONDS - math.floor(sleep_ms / gap)) + [sleep_ms - k * gap for k in range(math.floor(sleep_ms / gap))])
    return {q: waits[max(1, math.ceil(q * len(waits) - 1e-9)) - 1] for q in QUANTILES}


def truetail():
    with redis() as server:
        command = [BINARY, "run", f"redis://127.0.0.1:{server.port}", "-r", RATE, "-d", f"{SECONDS}s", "--command", "GET key:1",
                   "--json", "--quiet", "--no-save", "--no-preflight"]
        run = json.loads(asleep(server, command, SLEEP_AT))
        calls, _ = server.counted("get")
        _, slept_us = server.counted("debug")
    values = {one["q"]: one["value_ns"] for one in run["response_time"]["quantiles"]}
    return {"command": shown(command), "ms": {q: values[q] / 1e6 for q in QUANTILES}, "tally": run["tally"], "calls": calls,
            "slept_ms": slept_us / 1e3, "verdict": run["verdict"]["state"]}


def redis_benchmark(clients):
    with redis() as server:
        def command(requests):
            return [program("redis-benchmark"), "-p", server.port, "-c", clients, "-n", requests, "--precision", 3, "GET", "key:1"]
        began = time.monotonic()
        subprocess.run([str(word) for word in command(100_000)], capture_output=True, check=True)
        requests = max(1_000, int(100_000 / (time.monotonic() - began) * (SECONDS - SLEEP_S)))
        server.cli("config", "resetstat")
        printed = asleep(server, command(requests), PEER_SLEEP_AT)
        calls, _ = server.counted("get")
    by_percentile = printed.split("Latency by percentile distribution:")[1]
    spectrum = [(float(q) / 100, float(ms)) for q, ms in re.findall(r"([\d.]+)% <= ([\d.]+) milliseconds", by_percentile.split("Cumulative")[0])]
    # 99.9997 % is printed as 100.000 %, so the maximum is the last line.
    at = {q: spectrum[-1][1] if q == 1 else next((ms for reached, ms in spectrum if reached >= q - 1e-9), None) for q in QUANTILES}
    if at[1] < SLEEP_S * 900:
        sys.exit(f"redis-benchmark -c {clients} had ended before the sleep; run it again")
    return {"command": shown(command(requests)), "ms": at, "calls": calls}


def shown(command):
    words = [Path(str(command[0])).name, *(str(word) for word in command[1:])]
    return " ".join(f"'{word}'" if " " in word else word for word in words)


def row(name, ms, calls):
    cells = " | ".join("–" if ms[q] is None else f"{ms[q]:.3f}" if ms[q] < 10 else f"{ms[q]:.1f}" for q in QUANTILES)
    return f"| {name} | {calls:,} | {cells} |"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--page", metavar="FILE")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    ours = truetail()
    peers = {clients: redis_benchmark(clients) for clients in (1, 50)}
    exact = truth(ours["slept_ms"])
    table = ["| | commands that Redis counted | p50 | p95 | p99 | p99.9 | max |", "|---|---|---|---|---|---|---|",
             row("the truth: waits for the sleep", exact, RATE * SECONDS), row("truetail", ours["ms"], ours["calls"])]
    table += [row(f"redis-benchmark -c {clients}", peer["ms"], peer["calls"]) for clients, peer in peers.items()]
    print("\n".join(table))
    print(f"Redis slept for {ours['slept_ms']:.3f} ms; truetail's run is {ours['verdict']}")
    failed = []
    for q in (0.95, 0.99, 1):
        error = ours["ms"][q] / exact[q] - 1
        if abs(error) > WITHIN:
            failed.append(f"quantile {q} is {error:+.2%} off")
    if ours["ms"][0.5] >= MAX_P50_MS:
        failed.append(f"p50 is {ours['ms'][0.5]:.1f} ms")
    tally = ours["tally"]
    ended = sum(tally[name] for name in ("responses", "connect_failed", "reset", "malformed", "timed_out", "in_flight_at_end", "never_issued"))
    if not tally["planned"] == ended == tally["responses"] == ours["calls"] == RATE * SECONDS:
        failed.append(f"planned {tally['planned']}, ended {ended}, answered {tally['responses']}, Redis counted {ours['calls']}")
    print("\n".join(f"FAIL {why}" for why in failed) or f"ok: p95, p99 and maximum within {WITHIN:.0%}, and both count the same")
    if asked.json:
        Path(asked.json).write_text(json.dumps({"truth": exact, "truetail": ours, "redis-benchmark": peers}, indent=1) + "\n")
    if asked.page:
        write_page(Path(asked.page), table, ours, peers)
    return 1 if failed else 0


def write_page(path, table, ours, peers):
    """Replaces the figures between the marks of the page."""
    begin, end = "<!-- figures: make scenario-09 -->", "<!-- end of figures -->"
    before, rest = path.read_text().split(begin)
    version = subprocess.run([program("redis-server"), "--version"], capture_output=True, text=True).stdout.split()[2]
    when = f"{time.strftime('%Y-%m-%d')}, Redis {version[2:]}, {os.cpu_count()} processors, {platform.system()}; load average before: {os.getloadavg()[2]:.1f}."
    commands = ["```text", ours["command"], *(peer["command"] for peer in peers.values()), "```"]
    path.write_text(before + "\n".join([begin, "", *table, "", when, "", *commands, "", end]) + rest.split(end)[1])


if __name__ == "__main__":
    sys.exit(main())
