#!/usr/bin/env python3
"""Writes the figures of one or more sessions into docs/performance.md, between its markers: bench/page.py bench/results/DATE …"""

import json
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/performance.md"
BEGIN, END = "<!-- figures: bench/page.py -->", "<!-- end of figures -->"
# The largest arrival lag at p99 with which a run keeps its goal, microseconds.
LAG_GOALS = {"truetail --timing balanced": 35, "truetail --timing auto": 250, "truetail --timing precise": 10}
RATE, CPU, LAG, BEYOND = "thousand requests a second", "CPU, us a request", "arrival lag p99, us", "median it reports beyond that from kernel to kernel, us"
# Each goal: description, part of the session, table, tool, limit, and whether the limit is for the ratio to the peer or for
# the figure itself.
GOALS = [
    ("closed loop: times wrk's requests a second, at least", ("closed",), RATE, "truetail", 1.25, "ratio"),
    ("the same with `--user-timestamps`, at least", ("closed",), RATE, "truetail --user-timestamps", 1.30, "ratio"),
    ("50 000/s `cheap`: times wrk2's CPU a request, at most", ("open", "50000"), CPU, "truetail --timing cheap", 0.75, "ratio"),
    ("the same with 64 connections, which is what wrk2 has, at most", ("open", "50000"), CPU, "truetail --timing cheap -c 64", 0.75, "ratio"),
    *((f"{words}/s `auto`: times wrk2's CPU a request, at most", ("open", rate), CPU, "truetail --timing auto", 1.1, "ratio") for rate, words in (("10000", "10 000"), ("50000", "50 000"))),
    *((f"{words}/s `auto`: arrival lag p99, µs, at most", ("open", rate), LAG, "truetail --timing auto", 250, "median") for rate, words in (("10000", "10 000"), ("50000", "50 000"))),
    *((f"{words}/s `balanced`: arrival lag p99, µs, at most", ("open", rate), LAG, "truetail --timing balanced", 35, "median") for rate, words in (("10000", "10 000"), ("50000", "50 000"))),
    *((f"{words}/s `precise`: arrival lag p99, µs, at most", ("open", rate), LAG, "truetail --timing precise", 10, "median") for rate, words in (("10000", "10 000"), ("50000", "50 000"))),
    ("10 000/s `balanced`: its median beyond that from kernel to kernel, µs, at most", ("open", "10000"), BEYOND, "truetail --timing balanced", 30, "median"),
    ("TLS 1.3, kept connections: times wrk's CPU a request, at most", ("tls",), CPU, "truetail https", 1.2, "ratio"),
    ("HTTP/2 as fast as it goes: times h2load's CPU a request, at most", ("h2", "closed"), CPU, "truetail --http2", 1.2, "ratio"),
    ("HTTP/2 at 50 000/s `cheap`: the same, at most", ("h2", "50000"), CPU, "truetail --timing cheap", 1.2, "ratio"),
]


def number(value):
    return f"{value:,.0f}".replace(",", " ") if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(unit, rows, peer):
    out = [f"| {unit} | level | runs | median | lowest to highest | x {peer} |", "|---|---|---|---|---|---|"]
    for row in rows:
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "–"
        out.append(f"| {row['tool']} | {row['level']} | {row['n']} | {number(row['median'])} | {number(row['low'])} to {number(row['high'])} | {ratio} |")
    return "\n".join(out)


def part(title, found, peer):
    if not found:
        return f"### {title}\n\nNot measured: the peer was not there."
    left = {level: sum(run["level"] == level for run in found["runs"]) for level in ("mixed", "disturbed")}
    out = [f"### {title}"] + [table(unit, rows, peer) for unit, rows in found["tables"].items()]
    out += kept(found["runs"])
    out.append(f"Of {len(found['runs'])} runs {left['mixed']} were left out because the level changed, {left['disturbed']} because the client was pushed aside.")
    return "\n\n".join(out)


def kept(runs):
    """How many of the runs in the tables kept the goal of their timing, in sentences."""
    out = []
    for tool, most in LAG_GOALS.items():
        lags = [run["lag_us"]["0.99"] for run in runs if run["tool"] == tool and run["level"] in ("near", "far") and "lag_us" in run]
        if lags:
            out.append(f"`{tool}`: {sum(lag <= most for lag in lags)} of {len(lags)} runs had an arrival lag of at most {most} µs at p99.")
    return out


def goals(found):
    """A table row for each measured goal, at each level that has figures."""
    out = ["### Goals", "", "| goal | | level | measured | runs (of its peer) | |", "|---|---|---|---|---|---|"]
    for words, place, unit, tool, wanted, kind in GOALS:
        data = found.get(place[0], {}).get(place[0], {})
        data = data.get(place[1], {}) if len(place) > 1 else data
        rows = data.get("tables", {}).get(unit, [])
        for row in (row for row in rows if row["tool"] == tool and row[kind] is not None):
            peer = next((other["n"] for other in rows if other["level"] == row["level"] and other["ratio"] == 1), None)
            kept = row[kind] >= wanted if words.endswith("at least") else row[kind] <= wanted
            runs = f"{row['n']} ({peer})" if kind == "ratio" else row["n"]
            out.append(f"| {words} | {wanted:g} | {row['level']} | {number(row[kind])} | {runs} | {'kept' if kept else 'missed'} |")
    return "\n".join(out)


def memory(rows):
    out = ["### Memory", "| connections | most that was resident, MiB |", "|---|---|"]
    return "\n".join([out[0], ""] + out[1:] + [f"| {row['connections']} | {row['memory'] / 2**20:.1f} |" for row in rows])


def figures(folder):
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    versions = next(iter(found.values()))["versions"]
    out = ["Measured with " + ", ".join(f"{name}: {said.strip()}" for name, said in versions.items() if name not in ("cpus",)) + f", {versions['cpus']} processors."]
    out.append(goals(found))
    if "closed" in found:
        out.append(part("Closed loop, 64 connections", found["closed"]["closed"], "wrk"))
    for rate, data in found.get("open", {}).get("open", {}).items():
        out.append(part(f"Open loop, {number(int(rate))}/s", data, "wrk2"))
    for rate, data in found.get("h2", {}).get("h2", {}).items():
        title = "HTTP/2, 32 streams, closed loop" if rate == "closed" else f"HTTP/2, 32 streams, {number(int(rate))}/s"
        out.append(part(title, data, "h2load"))
    if "tls" in found:
        out.append(part("TLS 1.3, closed loop, 64 connections", found["tls"]["tls"], "wrk"))
    if "memory" in found:
        out.append(memory(found["memory"]["memory"]))
    return "\n\n".join(out)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    sessions = "\n\n".join(f"## Figures of {folder.name}\n\n{figures(folder)}" for folder in map(Path, sys.argv[1:]))
    PAGE.write_text(f"{before}{BEGIN}\n\n{sessions}\n\n{END}{after}")


if __name__ == "__main__":
    main()
