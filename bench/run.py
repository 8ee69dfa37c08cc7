#!/usr/bin/env python3
"""Compares truetail with wrk, wrk2, oha and h2load in one session: make bench, or bench/run.py --help.

Each run is a fresh single-threaded process on processor 1 against a fresh minimal server on processor 0. Tools alternate in
random order. Before and after each run a gate measures how long a cache line takes between the two processors. Shared hosts
flip between two levels: a run during which the level changed is left out, and so is one whose client was preempted by other
processes. Figures are compared only within one level, as ratios of medians. docs/performance.md explains the figures and
their limits.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from machine import FAR_FROM_NS, ROOT, SAME_LEVEL, Server, gate, measured, versions
from tools import Floor, H2load, Oha, Truetail, Wrk

# Involuntary context switches a second of the client above which a run is left out.
MAX_PREEMPTIONS_PER_S = 100
# Left out of the arrival lag, because connections are opened then, and wrk2 delays them.
STARTUP_S = 0.4

CLOSED = [Floor("floor"), Truetail("truetail"), Truetail("truetail --user-timestamps", "--user-timestamps"), Wrk("wrk"), Wrk("wrk2"), Oha()]
OPEN = [Floor("floor"), Floor("floor, spinning", 30), Floor("floor, in batches", "batches")] + [Truetail(f"truetail --timing {timing}", "--timing", timing) for timing in ("precise", "balanced", "auto", "cheap")] + [
    # After a stall of the machine an open loop opens a connection for each waiting arrival, while wrk2 has 64.
    Truetail("truetail --timing cheap -c 64", "--timing", "cheap", "-c", 64), Wrk("wrk2"), Oha()]


def lags_us(stamps, rate, per_connection):
    """How much later than the best-fitting schedule each request came, microseconds. wrk2, which has a schedule for each
    connection, is fitted connection by connection, which favours it."""
    seen = sorted((at, connection) for connection, at, _ in stamps if at)
    if not seen:
        return []
    begin = seen[0][0] + STARTUP_S * 1e9
    groups = {}
    for at, connection in seen:
        if at >= begin:
            groups.setdefault(connection if per_connection else 0, []).append(at)
    gap = 1e9 / rate * (len(groups) if per_connection else 1)
    lags = []
    for arrivals in groups.values():
        off = [at - arrivals[0] - k * gap for k, at in enumerate(arrivals)]
        least = min(off)
        lags += [(lag - least) / 1e3 for lag in off]
    return lags


def at(values, q):
    ordered = sorted(values)
    return ordered[max(0, -(-int(q * 1000) * len(ordered) // 1000) - 1)] if ordered else None


def one_run(tool, build, rate=None, stamped=False, scratch=None, server="bench-server"):
    """One run between two gates; None if the tool failed."""
    before = gate()
    server = Server(str(scratch / "stamps") if stamped else None, server)
    try:
        result = measured(build(tool, server.url))
        stamps = server.end()
    except Exception:
        server.process.kill()
        raise
    after = gate()
    trips = sorted([before["round_trip_ns"], after["round_trip_ns"]])
    requests = tool.requests(result)
    if not requests:
        print(f"  {tool.name} failed (exit {result['exit']}): {result['err'][-300:] or result['out'][-300:]}", file=sys.stderr)
        return None
    figures = {
        "tool": tool.name, "requests": requests, "per_second": tool.per_second(result), "cpu_us": result["cpu_s"] * 1e6 / requests, "memory": result["memory"],
        "wall_s": result["wall_s"], "round_trip_ns": trips, "stalls_per_second": max(before["stalls_per_second"], after["stalls_per_second"]),
        "level": "disturbed" if result["preemptions"] > MAX_PREEMPTIONS_PER_S * result["wall_s"] else "mixed" if trips[1] > trips[0] * SAME_LEVEL else "far" if trips[0] >= FAR_FROM_NS else "near",
    }
    if stamped:
        lags = lags_us(stamps, rate, tool.name == "wrk2")
        seen = sorted(at for _, at, _ in stamps if at)
        # Counted from the first to the last request, so that late requests lower the rate.
        figures["reached"] = (len(seen) - 1) / ((seen[-1] - seen[0]) / 1e9) if len(seen) > 1 else None
        figures["lag_us"] = {str(q): at(lags, q) for q in (0.5, 0.99, 0.999)}
        figures["served_us"] = at([(sent - came) / 1e3 for _, came, sent in stamps if came], 0.5)
        figures["said_us"] = tool.median_us(result)
    return figures


def alternate(tools, build, rounds, **how):
    """Runs all tools `rounds` times, each round in a random order."""
    runs = []
    for _ in range(rounds):
        for tool in random.sample(tools, len(tools)):
            figures = one_run(tool, build, **how)
            runs += [figures] if figures else []
    return runs


def median_of(runs, figure):
    values = [value for value in map(figure, runs) if value is not None]
    return {"n": len(values), "median": statistics.median(values), "low": min(values), "high": max(values)} if values else None


def summarize(runs, figure, peer):
    """Medians by level and tool, with their ratios to the peer at the same level."""
    table = []
    for level in ("near", "far"):
        of = {tool: median_of([r for r in runs if r["tool"] == tool and r["level"] == level], figure) for tool in dict.fromkeys(r["tool"] for r in runs)}
        for tool, stats in of.items():
            if stats:
                ratio = stats["median"] / of[peer]["median"] if of.get(peer) else None
                table.append({"level": level, "tool": tool, **stats, "ratio": ratio})
    return table


def left_out(runs):
    """How many runs are in no table, by reason."""
    return {level: sum(run["level"] == level for run in runs) for level in ("mixed", "disturbed")}


def print_table(title, table, unit, peer):
    print(f"\n{title}, {unit}\n  {'level':5} {'tool':28} {'n':>2} {'median':>10} {'range':>19}  x {peer}")
    for row in table:
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "–"
        print(f"  {row['level']:5} {row['tool']:28} {row['n']:>2} {row['median']:>10.2f} {row['low']:>9.2f} {row['high']:>9.2f}  {ratio}")


def closed_loop(options, scratch):
    tools = [tool for tool in CLOSED if tool.available()]
    runs = alternate(tools, lambda tool, url: tool.closed(url, 64, options.seconds), options.rounds)
    rate = lambda run: run["per_second"] / 1e3
    tables = {
        "thousand requests a second": summarize(runs, rate, "wrk"),
        "CPU, us a request": summarize(runs, lambda run: run["cpu_us"], "wrk"),
    }
    for unit, table in tables.items():
        print_table("closed loop, 64 connections", table, unit, "wrk")
    print(f"  of {len(runs)} runs left out: {left_out(runs)}")
    return {"runs": runs, "tables": tables}


def beyond_kernel(run):
    """The median that a tool reports, less the median from kernel to kernel, for which the server has a lower bound."""
    return None if run["said_us"] is None else run["said_us"] - run["served_us"]


def open_loop(options, scratch):
    found = {}
    for rate in options.rates:
        tools = [tool for tool in OPEN if tool.available() and (not options.tools or tool.name in options.tools)]
        connections = 64
        build = lambda tool, url: tool.open(url, rate, connections, options.seconds)
        runs = alternate(tools, build, options.rounds, rate=rate, stamped=True, scratch=scratch)
        tables = {
            "CPU, us a request": summarize(runs, lambda run: run["cpu_us"], "wrk2"),
            "arrival lag p50, us": summarize(runs, lambda run: run["lag_us"]["0.5"], "wrk2"),
            "arrival lag p99, us": summarize(runs, lambda run: run["lag_us"]["0.99"], "wrk2"),
            "median it reports beyond that from kernel to kernel, us": summarize(runs, beyond_kernel, "wrk2"),
            "achieved, % of the rate": summarize(runs, lambda run: run["reached"] and run["reached"] / rate * 100, "wrk2"),
        }
        for unit, table in tables.items():
            print_table(f"open loop, {rate}/s", table, unit, "wrk2")
        print(f"  of {len(runs)} runs left out: {left_out(runs)}")
        found[rate] = {"runs": runs, "tables": tables}
    return found


def memory(options, scratch):
    tool, rows = Truetail("truetail"), []
    for connections in options.connections:
        figures = one_run(tool, lambda tool, url: tool.closed(url, connections, options.seconds))
        if figures:
            rows.append({"connections": connections, "memory": figures["memory"]})
            print(f"  {connections:>6} connections: {figures['memory'] / 2**20:.1f} MiB at most, {figures['requests']} requests recorded")
    return rows


def beside(title, tools, build, server, peer, options):
    """CPU per request and throughput of truetail and one peer against a server; None without the peer."""
    missing = [tool.name for tool in tools if not tool.available()]
    if missing:
        print(f"\n{title}: skipped, {' and '.join(missing)} is not here")
        return None
    runs = alternate(tools, build, options.rounds, server=server)
    tables = {
        "CPU, us a request": summarize(runs, lambda run: run["cpu_us"], peer),
        "thousand requests a second": summarize(runs, lambda run: run["per_second"] / 1e3, peer),
    }
    for unit, table in tables.items():
        print_table(title, table, unit, peer)
    print(f"  of {len(runs)} runs left out: {left_out(runs)}")
    return {"runs": runs, "tables": tables}


def http2(options, scratch):
    """One connection with the same streams: at the same rates, and as fast as possible."""
    streams, found = 32, {}
    # With --rps h2load sends as soon as it may, not on a schedule: the cost of requests is compared, not their timing.
    for rate in [rate for rate in options.rates if rate >= 10_000]:
        flags = ["--http2", "--connections", 1, "--max-streams", streams]
        tools = [Truetail(f"truetail --timing {timing}", *flags, "--timing", timing) for timing in ("balanced", "auto", "cheap")] + [H2load()]
        build = lambda tool, url: tool.open(url, rate, streams, options.seconds)
        found[rate] = beside(f"HTTP/2, {streams} streams, {rate}/s", tools, build, "bench-http2-server", "h2load", options)
    tools = [Truetail("truetail --http2", "--http2", "--connections", 1), H2load()]
    build = lambda tool, url: tool.closed(url, streams, options.seconds)
    found["closed"] = beside(f"HTTP/2, closed loop, {streams} streams", tools, build, "bench-http2-server", "h2load", options)
    return found


def tls(options, scratch):
    """TLS 1.3 with kept-alive connections, as fast as possible."""
    tools = [Truetail("truetail https", "--insecure"), Wrk("wrk")]
    build = lambda tool, url: tool.closed(url, 64, options.seconds)
    return beside("TLS 1.3, closed loop, 64 connections", tools, build, "bench-tls-server", "wrk", options)


# What builds are compared by: name, server, load model, flags.
BUILD_CASES = [
    ("closed loop, 64 connections", "bench-server", "closed", ()),
    ("open loop, 50000/s, cheap", "bench-server", "open", ("--timing", "cheap")),
    ("open loop, 50000/s, balanced", "bench-server", "open", ("--timing", "balanced")),
    ("open loop, 50000/s, auto", "bench-server", "open", ("--timing", "auto")),
    ("HTTP/2, closed loop, 32 streams", "bench-http2-server", "streams", ("--http2", "--connections", 1)),
    ("HTTP/2, 50000/s, cheap", "bench-http2-server", "open", ("--http2", "--connections", 1, "--max-streams", 32, "--timing", "cheap")),
    ("TLS 1.3, closed loop, 64 connections", "bench-tls-server", "closed", ("--insecure",)),
]


def builds(options, scratch):
    """Several builds of truetail in turns, such as before and after a change: the first is what the others are held against."""
    if len(options.builds) < 2:
        sys.exit("builds: name at least two, the first to be held against: --builds before=PATH after=PATH")
    found, peer = {}, options.builds[0][0]
    for title, server, model, flags in BUILD_CASES:
        if options.cases and not any(case in title for case in options.cases):
            continue
        tools = [Truetail(name, *flags, binary=path) for name, path in options.builds]
        loads = {
            "closed": lambda tool, url: tool.closed(url, 64, options.seconds),
            "streams": lambda tool, url: tool.closed(url, 32, options.seconds),
            "open": lambda tool, url: tool.open(url, 50_000, 64, options.seconds),
        }
        found[title] = beside(title, tools, loads[model], server, peer, options)
    return found


def named_build(text):
    name, _, path = text.partition("=")
    if not path or not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=PATH of a truetail binary")
    return name, path


PARTS = {"closed": closed_loop, "open": open_loop, "memory": memory, "h2": http2, "tls": tls, "builds": builds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[part for part in PARTS if part != "builds"], help=f"of {', '.join(PARTS)}; all but builds without")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each tool [9]")
    parser.add_argument("--seconds", type=int, default=6, help="length of a run [6]")
    parser.add_argument("--rates", type=lambda text: [int(rate) for rate in text.split(",")], default=[1_000, 10_000, 50_000, 100_000])
    parser.add_argument("--tools", nargs="+", help="for the part open, these alone, by the names in its tables")
    parser.add_argument("--builds", nargs="+", type=named_build, default=[], metavar="NAME=PATH", help="for the part builds: truetail binaries, the first to be held against")
    parser.add_argument("--cases", nargs="+", help="for the part builds, these alone, by a part of their titles")
    parser.add_argument("--connections", type=lambda text: [int(n) for n in text.split(",")], default=[64, 1_000, 10_000], help="for the part memory")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results" / time.strftime("%Y-%m-%d"))
    parser.add_argument("--no-build", action="store_true", help="measure the release build that is there")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"'{part}' is no part; there are {', '.join(PARTS)}")
    for tool in options.tools or []:
        if tool not in [known.name for known in OPEN]:
            parser.error(f"'{tool}' is no tool of the part open; there are {'; '.join(known.name for known in OPEN)}")
    if not options.no_build:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "-p", "truetail", "-p", "truetail-bench"], cwd=ROOT, check=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options.out.mkdir(parents=True, exist_ok=True)
    scratch = options.out
    for part in options.parts:
        result = {"versions": versions(), "seconds": options.seconds, "rounds": options.rounds, part: PARTS[part](options, scratch)}
        (options.out / f"{part}.json").write_text(json.dumps(result, indent=1) + "\n")
    (scratch / "stamps").unlink(missing_ok=True)
    print(f"\nwritten to {options.out}")


if __name__ == "__main__":
    main()
