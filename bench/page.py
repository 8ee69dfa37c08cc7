#!/usr/bin/env python3
"""Writes the tables of bench sessions: bench/page.py [--check] [bench/results/SESSION …]

Each session gets its full tables in SESSION/figures.md. docs/performance.md gets, between its markers, the goals of all sessions
and the newest figures of each part. Without arguments, all sessions of bench/results are read. --check writes nothing and fails if
a file would change.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
BEGIN, END = "<!-- figures: bench/page.py -->", "<!-- end of figures -->"
# A run meets the goal of its timing if its p99 arrival lag is at most this, in microseconds.
LAG_GOALS = {"truetail --timing balanced": 35, "truetail --timing auto": 250, "truetail --timing precise": 10}
RATE, CPU, LAG50, LAG = "thousand requests a second", "CPU, us a request", "arrival lag p50, us", "arrival lag p99, us"
BEYOND, ACHIEVED = "median it reports beyond that from kernel to kernel, us", "achieved, % of the rate"
# How the pages name the tables of a session.
TITLES = {
    RATE: "thousand requests/s",
    CPU: "CPU per request, µs",
    LAG50: "arrival lag p50, µs",
    LAG: "arrival lag p99, µs",
    BEYOND: "added to the median, µs",
    ACHIEVED: "achieved, % of the planned rate",
}
# Each goal: description, part of the session, table, tool, limit, and whether the limit is for the ratio to the peer or for
# the figure itself.
GOALS = [
    ("closed loop: requests/s relative to wrk, at least", ("closed",), RATE, "truetail", 1.25, "ratio"),
    ("the same with `--user-timestamps`, at least", ("closed",), RATE, "truetail --user-timestamps", 1.30, "ratio"),
    ("50,000/s `cheap`: CPU relative to wrk2, at most", ("open", "50000"), CPU, "truetail --timing cheap", 0.75, "ratio"),
    ("the same with 64 connections, like wrk2, at most", ("open", "50000"), CPU, "truetail --timing cheap -c 64", 0.75, "ratio"),
    *((f"{words}/s `auto`: CPU relative to wrk2, at most", ("open", rate), CPU, "truetail --timing auto", 1.1, "ratio") for rate, words in (("10000", "10,000"), ("50000", "50,000"))),
    *((f"{words}/s `auto`: arrival lag p99, µs, at most", ("open", rate), LAG, "truetail --timing auto", 250, "median") for rate, words in (("10000", "10,000"), ("50000", "50,000"))),
    *((f"{words}/s `balanced`: arrival lag p99, µs, at most", ("open", rate), LAG, "truetail --timing balanced", 35, "median") for rate, words in (("10000", "10,000"), ("50000", "50,000"))),
    *((f"{words}/s `precise`: arrival lag p99, µs, at most", ("open", rate), LAG, "truetail --timing precise", 10, "median") for rate, words in (("10000", "10,000"), ("50000", "50,000"))),
    ("10,000/s `balanced`: added to the median, µs, at most", ("open", "10000"), BEYOND, "truetail --timing balanced", 30, "median"),
    ("TLS 1.3, closed loop: CPU relative to wrk, at most", ("tls",), CPU, "truetail https", 1.2, "ratio"),
    ("HTTP/2, closed loop: CPU relative to h2load, at most", ("h2", "closed"), CPU, "truetail --http2", 1.2, "ratio"),
    ("HTTP/2, 50,000/s `cheap`: CPU relative to h2load, at most", ("h2", "50000"), CPU, "truetail --timing cheap", 1.2, "ratio"),
]


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def parts_of(found):
    """Title, figures and peer of each part of a session, in the order of the pages."""
    if "closed" in found:
        yield "Closed loop, 64 connections", found["closed"]["closed"], "wrk"
    for rate, data in sorted(found.get("open", {}).get("open", {}).items(), key=lambda item: int(item[0])):
        yield f"Open loop, {number(int(rate))}/s", data, "wrk2"
    for rate, data in found.get("h2", {}).get("h2", {}).items():
        yield "HTTP/2, 32 streams, closed loop" if rate == "closed" else f"HTTP/2, 32 streams, {number(int(rate))}/s", data, "h2load"
    if "tls" in found:
        yield "TLS 1.3, closed loop, 64 connections", found["tls"]["tls"], "wrk"


def full_table(unit, rows, peer):
    out = [f"| {TITLES.get(unit, unit)} | level | runs | median | lowest to highest | × {peer} |", "|---|---|---|---|---|---|"]
    for row in rows:
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "–"
        out.append(f"| {row['tool']} | {row['level']} | {row['n']} | {number(row['median'])} | {number(row['low'])} to {number(row['high'])} | {ratio} |")
    return "\n".join(out)


def full_part(title, found, peer):
    if not found:
        return f"## {title}\n\nNot measured: {peer} was not installed."
    left = {level: sum(run["level"] == level for run in found["runs"]) for level in ("mixed", "disturbed")}
    out = [f"## {title}"] + [full_table(unit, rows, peer) for unit, rows in found["tables"].items()]
    out += runs_in_goal(found["runs"])
    out.append(f"Of {len(found['runs'])} runs, {left['mixed']} were left out because the level changed, {left['disturbed']} because the client was preempted.")
    return "\n\n".join(out)


def runs_in_goal(runs):
    """How many of the runs in the tables met the goal of their timing, in sentences."""
    out = []
    for tool, most in LAG_GOALS.items():
        lags = [run["lag_us"]["0.99"] for run in runs if run["tool"] == tool and run["level"] in ("near", "far") and "lag_us" in run]
        if lags:
            out.append(f"`{tool}`: in {sum(lag <= most for lag in lags)} of {len(lags)} runs, the p99 arrival lag was at most {most} µs.")
    return out


def memory(rows):
    return "\n".join(["| connections | peak resident memory, MiB |", "|---|---|"] + [f"| {row['connections']} | {row['memory'] / 2**20:.1f} |" for row in rows])


def versions_of(found):
    versions = next(iter(found.values()))["versions"]
    return ", ".join(f"{name}: {said.strip()}" for name, said in versions.items() if name != "cpus") + f", {versions['cpus']} processors"


def session_page(name, found):
    out = [f"# Figures of {name}", f"Written by `bench/page.py`; [docs/performance.md](../../../docs/performance.md) explains the terms. Measured with {versions_of(found)}."]
    out += [full_part(*part) for part in parts_of(found)]
    if "memory" in found:
        out += ["## Memory", memory(found["memory"]["memory"])]
    return "\n\n".join(out) + "\n"


def goal_cell(found, goal):
    """The measured figure at level near, the runs behind it, and whether the goal was met."""
    words, place, unit, tool, wanted, kind = goal
    data = found.get(place[0], {}).get(place[0], {})
    data = (data.get(place[1]) or {}) if len(place) > 1 else data
    rows = data.get("tables", {}).get(unit, [])
    row = next((row for row in rows if row["tool"] == tool and row["level"] == "near" and row[kind] is not None), None)
    if row is None:
        return "–"
    met = row[kind] >= wanted if words.endswith("at least") else row[kind] <= wanted
    text = f"{number(row[kind])} ({row['n']})"
    return text if met else f"**{text}**"


def goals(sessions):
    """A row for each goal that was measured, a column for each session."""
    out = ["| goal | | " + " | ".join(f"[{name}](../bench/results/{name}/figures.md)" for name in sessions) + " |", "|---" * (2 + len(sessions)) + "|"]
    for goal in GOALS:
        cells = [goal_cell(found, goal) for found in sessions.values()]
        if set(cells) != {"–"}:
            out.append(f"| {goal[0]} | {goal[4]:g} | " + " | ".join(cells) + " |")
    return "\n".join(out)


def summary_table(title, data, peer):
    """A row for each tool at level near: its runs, its figures, and the ratio to the peer of rates and CPU."""
    fixed_rate = "/s" in title
    units = [unit for unit in (RATE, CPU, LAG50, LAG, BEYOND) if unit in data["tables"] and not (unit == RATE and fixed_rate)]
    with_ratio = [unit in (RATE, CPU) for unit in units]
    head = [cell for unit, ratio in zip(units, with_ratio) for cell in ([TITLES[unit], f"× {peer}"] if ratio else [TITLES[unit]])]
    rows = {(row["tool"], unit): row for unit in units for row in data["tables"][unit] if row["level"] == "near"}
    out = ["| tool | runs | " + " | ".join(head) + " |", "|---" * (2 + len(head)) + "|"]
    for tool in sorted({tool for tool, _ in rows}):
        cells = []
        for unit, ratio in zip(units, with_ratio):
            row = rows.get((tool, unit))
            cells.append(number(row["median"]) if row else "–")
            if ratio:
                cells.append(f"{row['ratio']:.2f}" if row and row["ratio"] else "–")
        runs = next(row["n"] for (name, _), row in rows.items() if name == tool)
        out.append(f"| {tool} | {runs} | " + " | ".join(cells) + " |")
    return "\n".join(out)


def summary(sessions):
    out = ["### Goals", goals(sessions)]
    newest = {}
    for name, found in sessions.items():
        for title, data, peer in parts_of(found):
            # A later session that measured fewer tools, for one question, does not push out a whole table.
            if data and tools_near(data) >= max(1, tools_near(newest[title][1]) if title in newest else 1):
                newest[title] = (name, data, peer)
    order = sorted(newest, key=lambda title: [part in title for part in ("Closed", "Open", "HTTP/2", "TLS")].index(True))
    for title in order:
        name, data, peer = newest[title]
        out += [f"### {title} ({name})", summary_table(title, data, peer)]
    with_memory = [found["memory"]["memory"] for found in sessions.values() if "memory" in found]
    if with_memory:
        rows = ", ".join(f"{row['memory'] / 2**20:.1f} MiB with {row['connections']} connections" for row in with_memory[-1])
        out.append(f"Peak resident memory: {rows}.")
    return "\n\n".join(out)


def tools_near(data):
    """How many tools have figures at level near."""
    return len({row["tool"] for rows in data["tables"].values() for row in rows if row["level"] == "near"})


def main():
    check = "--check" in sys.argv
    given = [Path(word).resolve() for word in sys.argv[1:] if word != "--check"]
    folders = given or sorted(path for path in (ROOT / "bench/results").iterdir() if any((path / f"{part}.json").exists() for part in ("closed", "open", "tls", "h2", "memory")))
    sessions = {folder.name: {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))} for folder in folders}
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    written = {PAGE: f"{before}{BEGIN}\n\n{summary(sessions)}\n\n{END}{after}"}
    written |= {folder / "figures.md": session_page(folder.name, sessions[folder.name]) for folder in folders}
    changed = [path for path, text in written.items() if not path.exists() or path.read_text() != text]
    if check and changed:
        sys.exit("run bench/page.py: " + ", ".join(str(path) for path in changed))
    for path in changed:
        path.write_text(written[path])


if __name__ == "__main__":
    main()
