#!/usr/bin/env python3
"""How far truetail goes on one machine of many processors, beside wrk: bench/processors.py --help.

One half of the processors belongs to minimal servers, one on each, which listen at one port. The other half belongs to the client, as
many as it has threads. In each round every client runs once with every number of threads, in random order:

- closed: as many requests a second as it gets, 32 connections a thread;
- open: a fixed rate a thread, which says how late arrivals are, how much memory it takes, and how long the end of a run takes.

Figures are medians. "of linear" is the rate over n times the rate of one thread. Processors that share a core are listed by the
kernel; the client gets one of each core first.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import machine

CONNECTIONS = 32


def siblings(cpu):
    file = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return file.read_text().strip() if file.exists() else str(cpu)


def halves():
    """The client's processors and the servers': whole cores, so that no server shares a core with the client."""
    cores = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        cores.setdefault(siblings(cpu), []).append(cpu)
    cores = list(cores.values())
    dealt = lambda some: [core[turn] for turn in range(max(map(len, some))) for core in some if turn < len(core)]
    half = len(cores) // 2
    if not half:
        sys.exit("this needs two cores and more")
    return dealt(cores[:half]), dealt(cores[half:])


class Servers:
    """A minimal server on each of these processors, all at one port."""

    def __init__(self, cpus):
        self.processes = []
        address = "127.0.0.1:0"
        for cpu in cpus:
            process = subprocess.Popen([machine.TARGET / "bench-server", address], stdout=subprocess.PIPE, text=True, preexec_fn=machine.pinned(cpu))
            self.processes.append(process)
            self.url = process.stdout.readline().strip()
            address = re.match(r"http://(.*)/", self.url)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def measured(command, cpus):
    began = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    out, err = process.communicate()
    return out, err, process.returncode, time.monotonic() - began


class Truetail:
    name = "truetail"

    def closed(self, url, threads, seconds):
        return [machine.TARGET / "truetail", "run", url, "--model", "closed", "--users", CONNECTIONS * threads, "--threads", threads, "-d", f"{seconds}s", "--json", "--quiet", "--no-save", "--no-preflight"]

    def rate(self, out):
        return json.loads(out)["throughput_per_second"]


class Wrk:
    name = "wrk"

    def closed(self, url, threads, seconds):
        return [machine.program("wrk"), "-t", threads, "-c", CONNECTIONS * threads, "-d", f"{seconds}s", url]

    def rate(self, out):
        return float(re.search(r"Requests/sec:\s*([\d.]+)", out)[1])


def peak_mb(command, cpus):
    """Its peak memory: a parent of its own reports it, because that of the children of one process is the largest of them all."""
    script = "import resource, subprocess, sys; p = subprocess.run(sys.argv[1:], capture_output=True, text=True); print(p.stdout); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3)"
    out, err, code, wall = measured([sys.executable, "-c", script, *command], cpus)
    if code:
        sys.exit(f"the run could not be measured: {err}")
    body, _, memory = out.rstrip().rpartition("\n")
    return json.loads(body), float(memory), wall


def one_open(url, threads, cpus, options):
    rate = options.rate * threads
    command = [str(part) for part in [machine.TARGET / "truetail", "run", url, "-r", rate, "--threads", threads, "-c", CONNECTIONS * threads, "-d", f"{options.seconds}s", "--json", "--quiet", "--no-preflight", "--no-save"]]
    result, memory, wall = peak_mb(command, cpus)
    lag = {row["q"]: row["value_ns"] for row in result["generator_lag"]["quantiles"]}
    tally = result["tally"]
    return {"mode": "open", "tool": "truetail", "threads": threads, "rate": rate, "planned": tally["planned"], "responses": tally["responses"], "lag_p50_us": lag[0.5] / 1e3, "lag_p99_us": lag[0.99] / 1e3, "memory_mb": memory, "beyond_the_load_s": wall - options.seconds, "verdict": result["verdict"]["state"]}


def one_closed(tool, url, threads, cpus, options):
    out, err, code, _ = measured(tool.closed(url, threads, options.seconds), cpus)
    # 4 is INVALID or SUSPECT, which speaks of times; here the rate is measured.
    if code not in (0, 4):
        sys.exit(f"{tool.name} ended with exit code {code}: {err}")
    return {"mode": "closed", "tool": tool.name, "threads": threads, "rate": tool.rate(out)}


def median(rows, key):
    values = [row[key] for row in rows]
    return statistics.median(values), min(values), max(values)


def table(figures, tools, counts):
    for tool in tools:
        of = lambda threads: median([row for row in figures if (row["mode"], row["tool"], row["threads"]) == ("closed", tool.name, threads)], "rate")
        for threads in counts:
            middle, low, high = of(threads)
            print(f"closed  {tool.name:9} {threads:3} threads {middle:12,.0f}/s ({low:,.0f} to {high:,.0f}), {middle / (threads / counts[0] * of(counts[0])[0]):.2f} of linear")
    for threads in sorted({row["threads"] for row in figures if row["mode"] == "open"}):
        rows = [row for row in figures if (row["mode"], row["threads"]) == ("open", threads)]
        middle = {key: median(rows, key)[0] for key in ("lag_p50_us", "lag_p99_us", "memory_mb", "beyond_the_load_s")}
        answered = min(row["responses"] / row["planned"] for row in rows)
        print(f"open    truetail  {threads:3} threads {rows[0]['rate']:12,.0f}/s: {answered:.2%} answered, lag p50 {middle['lag_p50_us']:.0f} us, p99 {middle['lag_p99_us']:.0f} us, {middle['memory_mb']:.0f} MB, {middle['beyond_the_load_s']:.2f} s beyond the load, {'/'.join(sorted({row['verdict'] for row in rows}))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each [5]")
    parser.add_argument("--seconds", type=int, default=5, help="length of a run [5]")
    parser.add_argument("--rate", type=int, default=20_000, help="arrivals a second of each thread, in the open runs [20000]")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "bench/results" / time.strftime("%Y-%m-%d"))
    options = parser.parse_args()
    client, servers = halves()
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= len(client)]
    tools = [Truetail()] + ([Wrk()] if machine.program("wrk") else [])
    cores = [siblings(cpu) for cpu in client + servers]
    print(f"client on {client}, servers on {servers}; processors that share a core: {' '.join(sorted(set(cores)))}; {', '.join(tool.name for tool in tools)}", flush=True)
    jobs = [("closed", tool, n) for tool in tools for n in counts] + [("open", None, n) for n in [*counts, 2 * counts[-1]]]
    figures = []
    with Servers(servers) as served:
        for number in range(options.rounds):
            for mode, tool, threads in random.sample(jobs, len(jobs)):
                # Twice as many threads as the client has processors share all that there are with the servers.
                cpus = set(client[:threads]) if threads <= len(client) else set(client + servers)
                figures.append(one_closed(tool, served.url, threads, cpus, options) if tool else one_open(served.url, threads, cpus, options))
            print(f"round {number + 1} of {options.rounds}", flush=True)
    table(figures, tools, counts)
    options.out.mkdir(parents=True, exist_ok=True)
    result = {"versions": machine.versions(), "client": client, "servers": servers, "cores": cores, "seconds": options.seconds, "figures": figures}
    (options.out / "processors.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
