#!/usr/bin/env python3
"""Says what request() of a script costs, beside wrk2 with the same script: bench/scripts.py --help.

    cargo build --release -p truetail -p truetail-bench --features truetail/script && bench/scripts.py

The minimal server runs on processor 0, and each client, with one thread, on processor 1, at 50,000/s. The script counts, and formats a path from
the count with wrk.format. Clients take turns, in random order in each round. Printed are the CPU time of the client for each request, and for
truetail the 99th percentile of its generator lag; only ratios and differences of medians mean something, and none if others compute beside it. wrk2
is found on PATH or in truetail's folder of tools; without it, truetail is measured alone. `--json FILE` writes every run.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

import machine
import tools

RATE = 50_000
CONNECTIONS = 50
SCRIPT = """local count = 0
function request()
  count = count + 1
  return wrk.format("GET", "/items/" .. count)
end
"""


def commands(url, seconds, script):
    found = {"truetail": tools.Truetail("truetail").open(url, RATE, CONNECTIONS, seconds)}
    found["truetail, script"] = found["truetail"] + ["--script", script]
    if machine.program("wrk2"):
        found["wrk2"] = tools.Wrk("wrk2").open(url, RATE, CONNECTIONS, seconds)
        found["wrk2, script"] = found["wrk2"] + ["-s", script]
    return found


def once(name, command):
    tool = tools.Truetail(name) if name.startswith("truetail") else tools.Wrk("wrk2")
    result = machine.measured(command)
    requests = tool.requests(result)
    if not requests:
        sys.exit(f"{name} failed with {result['exit']}: {result['err'] or result['out']}")
    found = {"us": result["cpu_s"] / requests * 1e6, "per_second": requests / result["wall_s"], "preemptions": result["preemptions"]}
    if name.startswith("truetail"):
        quantiles = json.loads(result["out"])["generator_lag"]["quantiles"]
        found["lag_p99_us"] = next(row["value_ns"] for row in quantiles if row["q"] == 0.99) / 1e3
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--seconds", type=int, default=5, help="length of a run")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    server = machine.Server()
    runs = {}
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT)
        script.flush()
        try:
            found = commands(server.url, asked.seconds, script.name)
            for number in range(asked.rounds):
                for name in random.sample(list(found), len(found)):
                    runs.setdefault(name, []).append(once(name, found[name]))
                print(f"  round {number + 1} of {asked.rounds}", file=sys.stderr, flush=True)
        finally:
            server.end()
    median = lambda name, key: statistics.median(run[key] for run in runs[name])
    print(f"{RATE:,}/s, {asked.rounds} rounds\n  {'client':20}{'requests/s':>12}{'CPU, us a request':>20}{'lag p99, us':>14}")
    for name in sorted(runs):
        lag = f"{median(name, 'lag_p99_us'):14.0f}" if name.startswith("truetail") else ""
        print(f"  {name:20}{median(name, 'per_second'):>12,.0f}{median(name, 'us'):>20.2f}{lag}")
    own = median("truetail, script", "us")
    print(f"  request(): {own - median('truetail', 'us'):.2f} us; lag p99 {median('truetail, script', 'lag_p99_us') / median('truetail', 'lag_p99_us'):.2f} x")
    if "wrk2, script" in runs:
        print(f"  with the script, truetail / wrk2: CPU {own / median('wrk2, script', 'us'):.2f}")
    load = os.getloadavg()[0]
    print(f"\nload average {load:.1f} on {os.cpu_count()} processors; {'others computed beside it' if load > 2.5 else 'server and client only'}")
    if asked.json:
        Path(asked.json).write_text(json.dumps({"load_average": load, "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
