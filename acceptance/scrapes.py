#!/usr/bin/env python3
"""prom-client, prometheus_client and client_golang beside the truth of the client: is a stall before the handler found, and nothing else?

    cargo build --release -p truetail && python3 acceptance/scrapes.py [--runs 20] [node] [python] [go]

The services in acceptance/services answer after 20 ms and count each request in a histogram of their client library. Each run lasts 4 s with
100 requests a second, once as it is and once with the process stopped for a second (SIGSTOP): requests meanwhile wait before the timer
of the histogram begins. So the healthy service must agree with its users, with the words "no difference shown", and the stopped one
must understate, with a cause before its timer that explains 80 % of what the users waited. Both must have counted each request.

Needs Node.js with npm, Python with venv, Go. The exit code is 0 if all holds. Traffic stays on loopback. On a busy machine, `chrt -r 5` before
`python3` (as root) lets services and load go first.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter

from services import BINARY, NAMES, machine, service

STOP = "import os, signal, time; os.kill({0}, signal.SIGSTOP); time.sleep(1); os.kill({0}, signal.SIGCONT)"
# Not all: the cause counts from the upper end of the bucket.
LEAST = 0.8
LEAST_NS = 400e6
UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3}
WAITED = re.compile(r"its users waited ([\d.]+)(s|ms|µs)")
CAUSE = re.compile(r"at least ([\d.]+)(s|ms|µs) before its timer began, or on the network")


def one_run(url, process, stalls):
    command = [BINARY, "run", f"{url}/plain", "-r", "100", "-d", "4s", "--scrape", f"{url}/metrics=app", "--json", "--quiet", "--no-save"]
    if stalls:
        command += ["--event", f"{sys.executable} -c '{STOP.format(process.pid)}'", "--event-at", "2s"]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else sys.exit(f"truetail run failed: {done.stderr}")


def wrong(run, stalls):
    """What is wrong with the finding of a run; empty if nothing is."""
    histograms = run["scrapes"][0]["histograms"]
    if len(histograms) != 1:
        return f"{len(histograms)} histograms: {run['scrapes']}"
    found = histograms[0]
    message = found["message"]
    if found["count"] != run["tally"]["responses"] or run["tally"]["responses"] != run["tally"]["planned"]:
        return f"counts {found['count']} of {run['tally']}"
    if not stalls:
        return "" if found["finding"] == "agrees" and "no difference shown" in message else message
    cause, waited = CAUSE.search(message), WAITED.search(message)
    if found["finding"] != "understates" or not cause or not waited:
        return message
    return "" if ns(cause) >= max(LEAST * ns(waited), LEAST_NS) else f"too little is explained: {message}"


def ns(found):
    return float(found[1]) * UNITS[found[2]]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=20, help="healthy runs, and as many with a stall [20]")
    options.add_argument("services", nargs="*", metavar="SERVICE", help=" ".join(NAMES))
    asked = options.parse_args()
    right, failed = Counter(), []
    names = asked.services or NAMES
    for name in names:
        with service(name) as (url, process):
            for number in range(2 * asked.runs):
                stalls = number % 2 == 1
                run = one_run(url, process, stalls)
                complaint = wrong(run, stalls)
                right[name, stalls] += not complaint
                failed += [f"{name} {number + 1}: {complaint}"] if complaint else []
                messages = [one["message"] for one in run["scrapes"][0]["histograms"]]
                print(f"  {name} {number + 1}, {'stopped' if stalls else 'healthy'}: {'FAIL ' * bool(complaint)}{messages}", flush=True)
    print("\n| service | healthy: no difference | stopped before the handler: named |\n|---|---|---|")
    for name in names:
        print(f"| {name} | {right[name, False]} of {asked.runs} | {right[name, True]} of {asked.runs} |")
    print(f"\n{machine()}")
    print("\n".join(f"FAIL {why[:1000]}" for why in failed) or "ok: every finding is right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
