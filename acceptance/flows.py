#!/usr/bin/env python3
"""A login that stalls for a second: what do sessions see over sockets, and in k6, beside the exact truth?

    cargo build --release -p truetail && python3 acceptance/flows.py [--k6 FILE] [--json FILE]

`truetail serve` runs the scenario 07-login-that-stalls, and sessions of its shop.hurl arrive 50 times a second for a minute. The same
flow in virtual time is the truth. The books must be those of the truth to the last session, and p99 and the maximum of the session
response time within 2 % of it.

With `--k6 FILE`, the program k6, a script of the same flow (acceptance/flows.k6.js) runs twice against fresh servers: with as many virtual
users as it needs, and with a hundred, which do while nothing stalls. What k6 says of it is printed beside the truth; nothing is required of it.

`--json FILE` writes the table. A machine that is busy otherwise makes the server slower, and the checks fail then; `chrt -r 5 python3 …`, as
root, lets server and tools go first. The exit code is 0 if all hold. Traffic stays on loopback.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
SCENARIO = "07-login-that-stalls"
FLOW = HERE.parent / "scenarios" / SCENARIO / "shop.hurl"
QUANTILES = [0.5, 0.9, 0.99, 1.0]
WITHIN = 0.02
# Virtual users: enough for all that wait, and enough while nothing stalls.
USERS = [200, 100]


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


def k6(program, users):
    """What k6 says of its iterations, less the planned think time, in milliseconds."""
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary.json"
        script = ["run", "--quiet", "--no-usage-report", "--summary-export", summary, HERE / "flows.k6.js"]
        command = [program, *script, "-e", f"HOST={url}", "-e", f"USERS={users}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if not summary.exists():
            sys.exit(f"k6 failed: {done.stderr[-2000:]}")
        metrics = json.loads(summary.read_text())["metrics"]
    session = metrics["session_time"]
    names = {0.5: "med", 0.9: "p(90)", 0.99: "p(99)", 1.0: "max"}
    dropped = metrics.get("dropped_iterations", {}).get("count", 0)
    return {"quantiles": {q: session[name] for q, name in names.items()}, "sessions": metrics["iterations"]["count"],
            "never_begun": dropped}


def row_of(sessions):
    tally = sessions["tally"]
    return {"quantiles": times(sessions["session_time"]["quantiles"]), "sessions": tally["begun"],
            "never_begun": tally["never_begun"]}


def shown(name, row):
    cells = [f"{row['quantiles'][q]:10.1f}" if q in row["quantiles"] else f"{'–':>10}" for q in QUANTILES]
    return f"{name:<28}{row['sessions']:>9}{row['never_begun']:>12}{''.join(cells)}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--k6", metavar="FILE")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    exact, run = truth(), over_sockets()
    table = {"truth, in virtual time": row_of(exact["sessions"]), "truetail, over sockets": row_of(run["sessions"])}
    for users in USERS if asked.k6 else []:
        table[f"k6, {users} virtual users"] = k6(asked.k6, users)
    names = "".join(f"{'max' if q == 1 else f'p{q * 100:g}':>10}" for q in QUANTILES)
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
