#!/usr/bin/env python3
"""A login that stalls for a second: what do sessions see over sockets, and in other tools, beside the exact truth?

    cargo build --release -p truetail && python3 acceptance/flows.py [--k6 FILE] [--locust FILE] [--gatling FOLDER] [--json FILE]

`truetail serve` runs the scenario 07-login-that-stalls, and sessions of its shop.hurl arrive 50 times a second for a minute. The same
flow in virtual time is the truth. The books must be those of the truth to the last session, and p99 and the maximum of the session
response time within 2 % of it.

Other tools run the same flow against fresh servers (flows_tools.py). What they say of it is printed beside the truth; nothing is required
of it. `--k6 FILE`, the program k6, with arrivals (flows.k6.js): with as many virtual users as it needs, and with a hundred, which do while
nothing stalls. `--locust FILE`, the program locust, with users that each begin a session every two or four seconds (flows.locust.py).
`--gatling FOLDER`, where `tools/install.sh gatling` puts it, with arrivals (FlowsSimulation.java).

`--json FILE` writes the table. A machine that is busy otherwise makes the server slower, and the checks fail then; `chrt -r 5 python3 …`, as
root, lets server and tools go first. The exit code is 0 if all hold. Traffic stays on loopback.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import flows_tools

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
SCENARIO = "07-login-that-stalls"
FLOW = HERE.parent / "scenarios" / SCENARIO / "shop.hurl"
WITHIN = 0.02


@contextmanager
def serving():
    """The URL of a server that runs the scenario, which ends with the block."""
    command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--scenario", SCENARIO]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield re.search(r"http://[^\s/;,]+", process.stdout.readline()).group(0)
    finally:
        process.kill()
        process.wait()


def times(quantiles):
    """Milliseconds by quantile."""
    return {one["q"]: one["value_ns"] / 1e6 for one in quantiles if one["value_ns"] is not None}


def truth():
    command = [BINARY, "simulate", SCENARIO, "--flow", FLOW, "--variable", "host=http://127.0.0.1:1", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)["series"][0]


def over_sockets():
    with serving() as url:
        command = [BINARY, "run", "--flow", FLOW, "--variable", f"host={url}", "-r", "50", "-d", "60s", "--json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"truetail run failed: {done.stderr}")
    return json.loads(done.stdout)


def row_of(sessions):
    tally = sessions["tally"]
    return {"quantiles": times(sessions["session_time"]["quantiles"]), "sessions": tally["begun"],
            "never_begun": tally["never_begun"]}


def shown(name, row):
    cells = [f"{row['quantiles'][q]:10.1f}" if q in row["quantiles"] else f"{'–':>10}" for q in flows_tools.QUANTILES]
    never_begun = "–" if row["never_begun"] is None else row["never_begun"]
    return f"{name:<28}{row['sessions']:>9}{never_begun:>12}{''.join(cells)}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--k6", metavar="FILE")
    options.add_argument("--locust", metavar="FILE")
    options.add_argument("--gatling", metavar="FOLDER")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    exact, run = truth(), over_sockets()
    table = {"truth, in virtual time": row_of(exact["sessions"]), "truetail, over sockets": row_of(run["sessions"])}
    for tool in ["k6", "locust", "gatling"]:
        if getattr(asked, tool):
            table |= getattr(flows_tools, tool)(getattr(asked, tool), serving)
    names = "".join(f"{'max' if q == 1 else f'p{q * 100:g}':>10}" for q in flows_tools.QUANTILES)
    print(f"{'session time, ms':<28}{'sessions':>9}{'never begun':>12}{names}")
    for name, row in table.items():
        print(shown(name, row))
    print(f"the run itself is {run['verdict']['state']}")
    if asked.json:
        Path(asked.json).write_text(json.dumps(table, indent=1) + "\n")
    failed = []
    for key in ["tally", "steps"]:
        if exact["sessions"][key] != run["sessions"][key]:
            failed.append(f"the {key} differs: {run['sessions'][key]} and not {exact['sessions'][key]}")
    (_, true), (_, found), *_ = table.items()
    for q in [0.99, 1.0]:
        error = found["quantiles"][q] / true["quantiles"][q] - 1
        if abs(error) > WITHIN:
            failed.append(f"quantile {q} is {error:+.1%} off")
    print("\n".join(f"FAIL {why}" for why in failed) or f"ok: the same books, p99 and maximum within {WITHIN:.0%}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
