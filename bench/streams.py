#!/usr/bin/env python3
"""What an event of a stream costs a client, and what becomes of its times when very many streams are open: bench/streams.py --help.

Part `cost`: truetail, GuideLLM, AIPerf and vLLM's client, as far as they are here, meet the same server, one after the other: streams of
500 events, 10 ms apart, as a language model sends them, and as many at once as --streams says. Each runs for a short and for a long time, so that what starting and reporting cost cancels out:

    CPU per event = (CPU of the long run - CPU of the short one) / (events of the long run - events of the short one)

over all processes of a client. Its inverse is how many events one processor can take. The more streams at once, the more events share
what it costs to wake up, so each tool is taken where it is best. `truetail lab run` starts server and tools.

Part `many`: truetail on one processor, the server on the other, and as many streams as --at-once says. Printed are the gaps that the server
knows beside those that truetail measured, and how late truetail itself was.

A busy machine makes everything dearer; compare figures of one session only.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine

BINARY = os.environ.get("TRUETAIL", str(machine.TARGET / "truetail"))
# Ours comes first.
TOOLS = ["truetail-llm", "guidellm", "aiperf", "vllm"]
EVENTS, GAP_MS = 500, 10
LENGTH_S = EVENTS * GAP_MS / 1e3

SCENARIO = """
name = "{name}"
path = "/v1/completions"

[workload]
rate = {rate}
duration = "{seconds}s"
drain = "30s"

[service]
baseline = "2ms"

[service.stream]
events = {events}
first = "20ms"
gap = "{gap}ms"
"""


def scenario(folder, name, at_once, seconds):
    """A file with the scenario in which so many streams are open at once."""
    path = Path(folder) / f"{name}.toml"
    path.write_text(SCENARIO.format(name=name, rate=at_once / LENGTH_S, seconds=seconds, events=EVENTS, gap=GAP_MS))
    return path


def lab(folder, tools, at_once, seconds):
    """Streams that each tool was answered whole, and the CPU seconds that it took."""
    name = f"streams-{at_once}-for-{seconds}s"
    out = Path(folder) / "lab"
    command = [BINARY, "lab", "run", scenario(folder, name, at_once, seconds), "--tools", ",".join(tools), "--out", out, "--force", "--quiet"]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    with open(out / name / "league.csv") as table:
        rows = {row["tool"]: row for row in csv.DictReader(table)}
    found = {}
    for tool in tools:
        row = rows.get(tool)
        if not row or row["state"] != "ok":
            print(f"  {tool}: {row['message'] if row else 'not run'}", flush=True)
            continue
        if int(row["failed"] or 0) or int(row["left_out"] or 0):
            print(f"  {tool}: {row['failed']} failed, {row['left_out']} left out", flush=True)
        found[tool] = {"streams": int(row["measured"]), "cpu_s": float(row["cpu_seconds"]), "version": row["version"]}
    return found


def round_of_cost(options, folder, at_once):
    """What an event costs each tool, once."""
    short, long = (lab(folder, options.tools, at_once, seconds) for seconds in (options.short, options.long))
    row = {}
    for tool in options.tools:
        if tool in short and tool in long:
            events = (long[tool]["streams"] - short[tool]["streams"]) * EVENTS
            row[tool] = {"us_per_event": (long[tool]["cpu_s"] - short[tool]["cpu_s"]) / events * 1e6, "short": short[tool], "long": long[tool]}
    return row


def cost(options, folder):
    found, best = [], {}
    for at_once in options.streams:
        rounds = []
        for round in range(options.rounds):
            rounds.append(round_of_cost(options, folder, at_once))
            print(f"{at_once} streams, round {round + 1}: " + ", ".join(f"{tool} {figures['us_per_event']:.1f} us" for tool, figures in rounds[-1].items()), flush=True)
        median = {tool: statistics.median(row[tool]["us_per_event"] for row in rounds if tool in row) for tool in options.tools if any(tool in row for row in rounds)}
        for tool, us in median.items():
            best[tool] = min(best.get(tool, (us, at_once)), (us, at_once))
        found.append({"streams": at_once, "rounds": rounds, "median_us_per_event": median})
    ours = best[options.tools[0]][0]
    print(f"\n{1_000 // GAP_MS} events a second each; each tool where an event costs it least\n  {'tool':14} {'streams':>7} {'CPU, us an event':>17} {'events/s a processor':>21}  x {options.tools[0]}")
    for tool, (us, at_once) in best.items():
        print(f"  {tool:14} {at_once:>7} {us:>17.2f} {1e6 / us:>21,.0f}  {us / ours:.1f}")
    return {"by_streams": found, "best": {tool: {"us_per_event": us, "streams": at_once} for tool, (us, at_once) in best.items()}}


def quantile(values, q):
    return sorted(values)[max(1, -(-int(q * 1e6) * len(values) // 1_000_000)) - 1]


def server_gaps(path):
    """Gaps between events with content, in ns, as the server sent them."""
    last, gaps = {}, []
    with open(path) as log:
        header = next(log).strip().split(",")
        number, kind, left = (header.index(name) for name in ("number", "kind", "left_ns"))
        for line in log:
            row = line.rstrip("\n").split(",")
            if row[kind] == "content":
                at = int(row[left])
                if row[number] in last:
                    gaps.append(at - last[row[number]])
                last[row[number]] = at
    return gaps


def many(options, folder):
    seconds, found = 3 * LENGTH_S, []
    for at_once in options.at_once:
        file, events = scenario(folder, f"many-{at_once}", at_once, seconds), Path(folder) / f"events-{at_once}.csv"
        log = ["--truth-events", str(events)] if options.truth else []
        server = subprocess.Popen([BINARY, "serve", "--scenario", file, "--listen", "127.0.0.1:0", *log], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=machine.pinned(machine.SERVER_CPU))
        origin = next(word for word in server.stdout.readline().replace(";", " ").replace(",", " ").split() if word.startswith("http://"))
        command = [BINARY, "run", origin.rstrip("/") + "/v1/completions", "-r", at_once / LENGTH_S, "-d", f"{seconds}s", "--llm", "openai-completions",
                   "--threads", 1, "--timing", "balanced", "--data", json.dumps({"model": "m", "prompt": "one two", "max_tokens": EVENTS}), "--json", "--quiet", "--no-save"]
        ran = machine.measured(command)
        server.terminate()
        server.wait()
        if not ran["out"]:
            sys.exit(f"truetail run: {ran['err']}")
        run = json.loads(ran["out"])
        stream, llm = run["stream"], run["stream"]["llm"]
        at = lambda times, q: next((one["value_ns"] for one in times["quantiles"] if abs(one["q"] - q) < 1e-9), None)
        us = lambda ns: None if ns is None else round(ns / 1e3, 1)
        row = {
            "at_once": at_once, "complete": stream["tally"]["complete"], "planned": stream["tally"]["planned"], "verdict": run["verdict"]["state"],
            "cpu_s": round(ran["cpu_s"], 2), "us_per_event": round(ran["cpu_s"] * 1e6 / max(1, stream["tally"]["complete"] * EVENTS), 2),
            "wall_s": round(ran["wall_s"], 1), "coalesced": llm["coalesced_content_gaps"],
            "gap_us": {q: us(at(stream["content_gap"], q)) for q in (0.5, 0.99)},
            "generator_lag_p99_us": us(at(run["generator_lag"], 0.99)), "read_lag_p99_us": us(at(run["read_lag"], 0.99)),
        }
        if options.truth:
            gaps = sorted(server_gaps(events))[llm["coalesced_content_gaps"]:]
            row["server_gap_us"] = {q: us(quantile(gaps, q)) for q in (0.5, 0.99)}
            events.unlink()
        found.append(row)
        print(json.dumps(row), flush=True)
    return found


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["cost", "many"], help="of cost, many; both without")
    parser.add_argument("--rounds", type=int, default=3, help="for the part cost [3]")
    parser.add_argument("--tools", type=lambda text: text.split(","), default=TOOLS, help=f"for the part cost; ours comes first [{','.join(TOOLS)}]")
    parser.add_argument("--streams", type=numbers, default=[20, 100], help="streams at once for the part cost [20,100]")
    parser.add_argument("--short", type=int, default=20, help="seconds of the short run [20]")
    parser.add_argument("--long", type=int, default=60, help="seconds of the long run [60]")
    parser.add_argument("--at-once", type=numbers, default=[100, 500, 1_000, 2_000], help="for the part many [100,500,1000,2000]")
    parser.add_argument("--truth", action=argparse.BooleanOptionalAction, default=True, help="for the part many, the gaps that the server knows, from its log")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "bench/results" / time.strftime("%Y-%m-%d"))
    options = parser.parse_args()
    parts = {"cost": cost, "many": many}
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="truetail-streams-") as folder:
        result = {part: parts[part](options, folder) for part in options.parts}
    path = options.out / "streams.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, "versions": machine.versions(), **result}, indent=1) + "\n")
    print(f"\nwritten to {path.relative_to(machine.ROOT) if path.is_relative_to(machine.ROOT) else path}")


if __name__ == "__main__":
    main()
