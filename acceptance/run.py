#!/usr/bin/env python3
"""Acceptance checks in real time: the binary against its own server, with the promised tolerances.

    cargo build --release -p truetail && python3 acceptance/run.py [NAME…]

These checks are slow (a scenario lasts 60 s) and need a quiet machine, so `make test` runs shortened versions instead. Each
check prints what it found; the exit code is 0 if all hold. Traffic stays on loopback.
"""

import csv
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = os.environ.get("TRUETAIL", str(ROOT / "target/release/truetail"))
# Removed when this process ends.
FOLDER = tempfile.TemporaryDirectory(prefix="truetail-acceptance-")
WORK = Path(FOLDER.name)
failed = []
# Numbers files, which several runs may create at once.
NUMBERS = itertools.count()


class NoResult(Exception):
    """There is nothing to check."""


def check(what, holds, found):
    print(f"  {'ok  ' if holds else 'FAIL'} {what}: {found}", flush=True)
    if not holds:
        failed.append(what)


class Server:
    """`truetail serve` on a free port, with its truth log."""

    def __init__(self, scenario):
        self.truth = WORK / f"truth-{next(NUMBERS)}.csv"
        command = [BINARY, "serve", "--scenario", scenario, "--listen", "127.0.0.1:0", "--truth", self.truth]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        listening = re.search(r"http://\S+", line)
        if not listening:
            self.kill()
            raise NoResult(f"truetail serve did not start: it said {line!r}")
        self.url = listening.group(0).rstrip("/") + "/api"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        with open(self.truth) as log:
            return list(csv.DictReader(log))

    def kill(self):
        """Ends it at once; does nothing if it has ended."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def run(url, *flags, before=None, during=None):
    """Runs `truetail run`; returns run.json, exit code and output. Raises NoResult if there is no run.json."""
    out = WORK / f"run-{next(NUMBERS)}"
    command = [BINARY, "run", url, "--out", out, *map(str, flags)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before)
    try:
        if during:
            during(process)
        screen, errors = process.communicate(timeout=900)
    finally:
        process.kill()
        process.wait()
    path = out / "run.json"
    if not path.exists():
        raise NoResult(f"truetail run left no run.json; exit code {process.returncode}: {errors.strip()}")
    result = json.loads(path.read_text())
    complete = all((out / name).exists() for name in ("run.json", "histograms.hlog", "timeline.csv", "samples.csv"))
    return result, process.returncode, screen, errors, complete


def balanced(result):
    tally = result["tally"]
    parts = ("responses", "connect_failed", "reset", "malformed", "timed_out", "in_flight_at_end")
    issued = sum(tally[name] for name in parts)
    check("the books balance", tally["issued"] == issued and tally["planned"] == issued + tally["never_issued"], tally)
    return tally


def quantile(result, q, which="response_time"):
    found = next(x for x in result[which]["quantiles"] if abs(x["q"] - q) < 1e-9)
    return found["value_ns"] / 1e6 if found["value_ns"] is not None else None, found


def near(result, q, truth_ms, percent=None, ms=None):
    value, _ = quantile(result, q)
    room = truth_ms * percent / 100 if percent else ms
    holds = value is not None and abs(value - truth_ms) <= room
    check(f"q {q} within {percent or ms}{' %' if percent else ' ms'} of {truth_ms} ms", holds, f"{value} ms")


def scenario(name):
    with Server(name) as server:
        result, code, *_ = run(server.url, "-r", 1000, "-d", "60s")
        truth = server.stop()
    tally = balanced(result)
    check("planned = responses = 60 000", tally["planned"] == tally["responses"] == 60_000, tally["responses"])
    check("the server saw as many", len(truth) == 60_000, len(truth))
    check("not INVALID", code != 4, result["verdict"])
    return result, truth


def healthy():
    result, _ = scenario("01-healthy")
    near(result, 0.5, 10, ms=1)
    near(result, 0.99, 10, ms=1)


def hiccup():
    result, truth = scenario("02-single-hiccup")
    near(result, 0.99, 410, percent=2)
    near(result, 0.999, 950, percent=1)
    near(result, 1, 1010, percent=1)
    inside = sum(30e9 <= int(row["arrived_ns"]) < 31e9 for row in truth)
    check("at least 995 arrivals inside the stall", inside >= 995, inside)


def slowdown():
    result, _ = scenario("03-sustained-slowdown")
    near(result, 0.5, 40, percent=3)
    near(result, 0.99, 100, percent=2)


def pauses():
    result, _ = scenario("04-gc-pauses")
    near(result, 0.99, 110, percent=4)


def saturation():
    with Server("05-saturation") as server:
        result, *_ = run(server.url, "-r", 1000, "-d", "60s", "--timeout", "5s")
        truth = server.stop()
    reason = result["verdict"]["reasons"][0]
    check("the verdict is INVALID: saturated", (result["verdict"]["state"], reason["code"]) == ("INVALID", "saturated"), reason["code"])
    check("capacity 500/s within 3 %", abs(reason["capacity_per_second"] - 500) <= 15, reason["capacity_per_second"])
    tally = balanced(result)
    check("requests timed out", tally["timed_out"] > 0, tally["timed_out"])
    check("the server saw every request", len(truth) == tally["issued"], len(truth))
    check("those are in the distribution", result["response_time"]["count"] == 60_000 and result["response_time"]["censored"] > 0, result["response_time"]["censored"])
    value, found = quantile(result, 0.99)
    check("p99 is at least the timeout", found["at_least"] and value >= 5000, value)


def killed():
    with Server("01-healthy") as server:

        def kill_it(_process):
            time.sleep(4)
            server.kill()

        result, code, _, _, complete = run(server.url, "-r", 500, "-d", "8s", during=kill_it)
    tally = balanced(result)
    check("all are planned", tally["planned"] == 4000, tally["planned"])
    check("some were answered, the rest failed", tally["responses"] > 1000 and tally["connect_failed"] > 1000, tally)
    check("the run folder is complete", complete, complete)


def few_files():
    with Server("02-single-hiccup") as server:
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        # Scenario 02 stalls at 30 s, when a thousand requests a second would put a thousand in flight.
        result, _, screen, _, complete = run(server.url, "-r", 1000, "-d", "35s", before=limit)
        server.stop()
    tally = balanced(result)
    check("planned = responses", tally["planned"] == tally["responses"] == 35_000, tally)
    cap = result["generator"]["connections_available"]
    check("no more connections than files", result["generator"]["connections_peak"] <= cap < 64, cap)
    wait, _ = quantile(result, 1, "generator_lag")
    check("to wait for one is generator lag: the limit is this machine's", wait > 500, f"{wait} ms")
    check("the run says so", "generator_lag" in [r["code"] for r in result["verdict"]["reasons"]], result["verdict"])
    check("the run folder is complete", complete, complete)
    asked = subprocess.run([BINARY, "run", "http://127.0.0.1:1/", "-r", "10", "-c", "1000", "--no-preflight"], preexec_fn=limit, capture_output=True, text=True)
    check("asked for more than there is: one line with both numbers", asked.returncode == 1 and "1000" in asked.stderr.replace("\u202f", "").replace(" ", "") and asked.stderr.count("\n") == 1, asked.stderr.strip())


def held_open(wanted):
    """`wanted` connections at once, each for an answer that takes twelve seconds: run.json and how many the server saw."""
    slow = WORK / f"slow-{wanted}.toml"
    slow.write_text(
        f'name = "slow"\nabout = "twelve seconds of work"\n[workload]\nrate = {wanted / 10}\nduration = "10s"\n[service]\nbaseline = "12s"\n'
    )
    with Server(slow) as server:
        result, *_ = run(server.url, "-r", wanted / 10, "-d", "10s", "--no-preflight")
        return result, len(server.stop())


def many_connections():
    # Each connection is an open file in both the client and the server process, so beyond the limit on open files several
    # of both are needed.
    hard, asked = resource.getrlimit(resource.RLIMIT_NOFILE)[1], 50_000
    processes = -(-asked // (hard - 100))
    each = -(-asked // processes)
    memory = {}
    for side_by_side, wanted in ((1, 2_000), (processes, each)):
        with ThreadPoolExecutor(side_by_side) as together:
            ran = list(together.map(held_open, [wanted] * side_by_side))
        for result, seen in ran:
            tally = balanced(result)
            check("planned = responses", tally["planned"] == tally["responses"] == wanted, tally)
            peak = result["generator"]["connections_peak"]
            check("all connections at once", peak == wanted, f"{peak} of {wanted}, limit on open files {hard}")
            check("the server saw every request", seen == wanted, seen)
        # Connections are opened within ten seconds, and none is closed before the twelfth.
        started = [result["started_at_unix_ns"] for result, _ in ran]
        check("side by side", max(started) - min(started) < 2e9, f"begun within {(max(started) - min(started)) / 1e9:.2f} s")
        memory[wanted] = [result["generator"]["peak_memory_bytes"] for result, _ in ran]
    one = (max(memory[each]) - memory[2_000][0]) / (each - 2_000)
    total = sum(memory[each])
    found = f"{total / 1e6:.0f} MB for {each * processes} in {processes} process(es), {one:.0f} bytes a connection with what is recorded of its request"
    check(f"{asked} connections in less than 250 MB", total < 250e6, found)


def flat_memory():
    with Server("01-healthy") as server:
        readings = []

        def watch(process):
            for second in range(300):
                time.sleep(1)
                if process.poll() is not None:
                    return
                try:
                    status = Path(f"/proc/{process.pid}/status").read_text()
                except OSError:
                    return
                found = re.search(r"VmRSS:\s+(\d+)", status)
                if found and second % 10 == 0:
                    readings.append(int(found.group(1)))

        result, *_ = run(server.url, "-r", 100, "-d", "5m", during=watch)
        server.stop()
    tally = balanced(result)
    check("planned = responses", tally["planned"] == tally["responses"] == 30_000, tally)
    early, late = readings[3], readings[-1]
    # Only recorded data may grow: every request while they fit (112 bytes, 2.9 MB for the 26 000 between the readings), and
    # the distributions of each second (about 1.5 KB each at this rate, 0.4 MB) until intervals double.
    check("memory grows by what is kept and no more (8 MB)", late - early <= 8192, f"{early} KiB after 40 s, {late} KiB at the end")


CHECKS = {
    "01": healthy,
    "02": hiccup,
    "03": slowdown,
    "04": pauses,
    "05": saturation,
    "killed": killed,
    "few-files": few_files,
    "many-connections": many_connections,
    "flat-memory": flat_memory,
}


def main():
    # As on Ctrl-C, servers are ended and files removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for name in sys.argv[1:] or CHECKS:
        if name not in CHECKS:
            sys.exit(f"unknown check '{name}'; there are {', '.join(CHECKS)}")
        print(name, flush=True)
        try:
            CHECKS[name]()
        except NoResult as why:
            check("there is a result", False, why)
        except Exception as why:
            # A result of an unexpected shape is a failed check.
            check("the check came to its end", False, f"{why!r}, line {why.__traceback__.tb_next.tb_lineno}")
    print(f"{len(failed)} failed" if failed else "all hold")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
