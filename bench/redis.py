#!/usr/bin/env python3
"""Compares truetail with redis-benchmark on a real Redis: bench/redis.py --help.

    cargo build --release -p truetail -p truetail-bench && tools/install.sh redis && bench/redis.py

Redis runs on processor 0, and each client, with one thread, on processor 1. GET of a value of 5 bytes.

closed   As many requests in flight for both: 50 connections with 1 each, and 1 connection with 16 (redis-benchmark -P 16). Printed are
         replies a second, and the CPU time of the client for each.
rate     truetail sends 50,000/s on a schedule. redis-benchmark has no rate, so it runs closed with each number of connections, and the one
         with the rate nearest to 50,000/s is compared. Printed is the CPU time of the client for each reply.

truetail's replies a second are those that Redis counted, over the duration of the load; redis-benchmark's are those that it prints. The CPU time
is the difference between a run and one of a tenth of its length, so that starting a client does not count.

Clients take turns, in random order in each round, and only ratios of medians mean something: the machine is shared, and everything on it becomes slower
or faster from one minute to the next. The load of the machine is printed, and the table is worth little if others compute beside it. `--json FILE`
writes every run.
"""

import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import machine

RATE = 50_000
CONNECTIONS = [1, 2, 4, 8, 16, 50]
VALUE = "value"


class Redis:
    def __init__(self, folder):
        self.port = free_port()
        command = [need("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=machine.pinned(machine.SERVER_CPU))
        time.sleep(0.5)
        if self.process.poll() is not None:
            sys.exit(f"redis-server does not start on port {self.port}")
        self.cli("set", "key:1", VALUE)

    def cli(self, *words):
        return subprocess.run([need("redis-cli"), "-p", str(self.port), *words], capture_output=True, text=True, check=True).stdout

    def counted(self):
        found = re.search(r"cmdstat_get:calls=(\d+)", self.cli("info", "commandstats"))
        return int(found.group(1)) if found else 0


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def need(name):
    return machine.program(name) or sys.exit(f"{name} is missing; to install it: tools/install.sh redis")


def truetail(server, seconds, *load):
    return [machine.TARGET / "truetail", "run", f"redis://127.0.0.1:{server.port}", "--threads", 1, "--command", "GET key:1", "-d", f"{round(seconds * 1000)}ms",
            "--json", "--quiet", "--no-save", "--no-preflight", *load]


def redis_benchmark(server, connections, requests, *more):
    return [need("redis-benchmark"), "-p", server.port, "-c", connections, "-n", requests, "-q", *more, "GET", "key:1"]


def run(server, command, seconds=None):
    """Replies that Redis counted, and how many a second: over a load of so many seconds, or as the client prints."""
    before = server.counted()
    result = machine.measured(command)
    if result["exit"] not in (0, 4):
        sys.exit(f"{command[0]} failed: {result['err']}")
    replies = server.counted() - before
    per_second = replies / seconds if seconds else float(re.findall(r"([\d.]+) requests per second", result["out"])[-1])
    return {"replies": replies, "per_second": per_second, "cpu_s": result["cpu_s"], "preemptions": result["preemptions"]}


def once(server, client, length):
    """A run of a length; the CPU time of a reply is without that of a run of a tenth of the length."""
    short, long = run(server, *client(length / 10)), run(server, *client(length))
    return {**long, "us": (long["cpu_s"] - short["cpu_s"]) / (long["replies"] - short["replies"]) * 1e6}


def rate_of_theirs(server, connections, *more):
    return run(server, redis_benchmark(server, connections, 100_000, *more))["per_second"]


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def print_table(title, runs, ours):
    print(f"\n{title}\n  {'client':34}{'replies/s':>12}{'CPU, us a reply':>17}")
    for name, found in runs.items():
        print(f"  {name:34}{median(found, 'per_second'):>12,.0f}{median(found, 'us'):>17.2f}")
    theirs = next(name for name in runs if name != ours)
    ratio = lambda key: median(runs[ours], key) / median(runs[theirs], key)
    print(f"  {ours} / {theirs}: replies/s {ratio('per_second'):.2f}, CPU {ratio('us'):.2f}")


def compare(server, title, asked, found, ours, theirs):
    """Runs both in turns and prints the table. The rate is that of redis-benchmark: it takes a number of requests instead of a duration."""
    (our_name, load), (their_name, how, rate) = ours, theirs
    clients = {our_name: lambda seconds: (truetail(server, seconds, *load), seconds),
               their_name: lambda seconds: (redis_benchmark(server, how[0], int(rate * seconds), *how[1:]),)}
    found[title] = machine.in_turns(asked.rounds, clients, lambda name: once(server, clients[name], asked.seconds))
    print_table(title, found[title], our_name)


def main():
    asked = machine.asked(__doc__, 4)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        server = Redis(folder)
        try:
            for title, load, theirs in [("closed, 50 connections", ["--users", 50, "-c", 50], (50,)), ("closed, 1 connection, 16 in flight", ["--users", 16, "-c", 1], (1, "-P", 16))]:
                compare(server, title, asked, found, ("truetail", ["--model", "closed", *load]), ("redis-benchmark", theirs, rate_of_theirs(server, *theirs)))
            rates = {connections: rate_of_theirs(server, connections) for connections in CONNECTIONS}
            nearest = min(rates, key=lambda connections: abs(rates[connections] - RATE))
            compare(server, f"{RATE:,}/s", asked, found, (f"truetail -r {RATE} -c {nearest}", ["-r", RATE, "-c", nearest]),
                    (f"redis-benchmark -c {nearest}", (nearest,), rates[nearest]))
        finally:
            server.process.kill()
            server.process.wait()
    machine.report(found, asked.json)


if __name__ == "__main__":
    main()
