#!/usr/bin/env python3
"""Are the times of streams those that the server knows? Each run is compared with the truth log of `truetail serve`.

    cargo build --release -p truetail --features serve-http2 && python3 acceptance/streams.py [NAME…]

NAME is a part of the name of a case, such as `constant` or `HTTP/2`. TLS needs openssl, for a certificate. TTFT and gaps between events with content at p50 and p99 must be within 1 % or
0.2 ms of the truth, whichever is more. Each check prints what it found, and how late truetail itself was; the exit code is 0 if all
hold. A busy machine delays server and client, and only the lateness of the server is part of the truth. Traffic stays on loopback.

The truth of TTFT counts from the intended start, which the server does not know. Its clock is set to that of the schedule by the
request that came soonest after it was due, so the truth is too low by what that request took to arrive: some 0.05 ms. Gaps between events
that were read together have no length and are in no distribution, so the truth leaves out as many of its shortest gaps.
"""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from math import ceil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = os.environ.get("TRUETAIL", str(ROOT / "target/release/truetail"))
RATE = 20
CONSTANT = """
name = "constant-stream"
path = "/v1/completions"

[workload]
rate = 20
duration = "30s"

[service]
baseline = "5ms"

[service.stream]
events = 50
first = "40ms"
gap = "20ms"
"""
# Name, scheme, and options of `truetail run`.
WAYS = [
    ("HTTP/1.1", "http", []),
    ("HTTP/1.1 over TLS", "https", ["--insecure"]),
    ("HTTP/2", "http", ["--http2"]),
    ("HTTP/2 over TLS", "https", ["--insecure", "--http2"]),
]
SCENARIOS = [("constant", None, 30), ("06-model-that-stalls", "06", 60)]


@contextmanager
def server(scenario, options, folder):
    """The origin of a server with truth logs, which are complete when the block is left."""
    command = [BINARY, "serve", "--scenario", scenario, "--listen", "127.0.0.1:0", *options]
    command += ["--truth", folder / "truth.csv", "--truth-events", folder / "events.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline()
        listening = re.search(r"https?://127\.0\.0\.1:\d+", line)
        if not listening:
            sys.exit(f"truetail serve did not start: it said {line!r}")
        yield listening.group(0)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()


def certificate(folder):
    """The options of a server with a certificate of its own."""
    key, chain = folder / "key.pem", folder / "cert.pem"
    request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run([*request, "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", chain], check=True, capture_output=True)
    return ["--cert", chain, "--key", key]


def quantile(values, q):
    """As HdrHistogram defines it: the smallest value whose cumulative count reaches ceil(q x n)."""
    return sorted(values)[max(1, ceil(q * len(values))) - 1]


def truth(folder):
    """TTFT from the intended start, and gaps between events with content, in ns."""
    with open(folder / "truth.csv") as log:
        arrived = {int(row["number"]): int(row["arrived_ns"]) for row in csv.DictReader(log) if row["epoch"] == "1"}
    content = defaultdict(list)
    with open(folder / "events.csv") as log:
        for row in csv.DictReader(log):
            if row["kind"] == "content":
                content[int(row["number"])].append(int(row["left_ns"]))
    # Requests arrive in the order of the schedule, which is even.
    due = {number: place * 10**9 // RATE for place, number in enumerate(sorted(arrived))}
    offset = min(arrived[number] - due[number] for number in arrived)
    first = [min(times) - due[number] - offset for number, times in content.items()]
    gaps = sorted(after - before for times in content.values() for before, after in zip(times, times[1:]))
    return {"TTFT": first, "gap": gaps}


def measured(url, seconds, options, folder):
    command = [BINARY, "run", url, "-r", str(RATE), "-d", f"{seconds}s", "--llm", "openai-completions", "--threads", "1"]
    body = ["--data", '{"model": "m", "prompt": "Hi", "max_tokens": 50}', "--out", folder / "run", "--quiet"]
    done = subprocess.run([*command, *body, *options], capture_output=True, text=True, timeout=600)
    path = folder / "run/run.json"
    if not path.exists():
        sys.exit(f"truetail run: exit code {done.returncode}: {done.stderr}")
    return json.loads(path.read_text())


def of(distribution, q):
    return next(one["value_ns"] for one in distribution["quantiles"] if abs(one["q"] - q) < 1e-9)


def compare(name, run, known):
    """Prints the figures of a case, and returns how many do not hold."""
    stream, together = run["stream"], run["stream"]["llm"]["coalesced_content_gaps"]
    known["gap"] = known["gap"][together:]
    late = ", ".join(f"{what} p50 {of(run[which], 0.5) / 1e6:.3f} ms, p99 {of(run[which], 0.99) / 1e6:.3f} ms"
                     for what, which in [("sent late", "generator_lag"), ("last byte read late", "read_lag")])
    print(f"{name}: {stream['tally']['complete']} of {stream['tally']['planned']} complete, {run['verdict']['state']}; truetail itself: "
          f"{late}; {together} gaps read together")
    missed = 0
    for what, times in [("TTFT", stream["first_content_time"]), ("gap", stream["content_gap"])]:
        for q in (0.5, 0.99):
            true, found = quantile(known[what], q), of(times, q)
            if found is None:
                missed += 1
                print(f"  FAIL {what} p{q * 100:g}: no figure", flush=True)
                continue
            off = found - true
            holds = abs(off) <= max(true * 0.01, 200_000)
            missed += not holds
            print(f"  {'ok  ' if holds else 'FAIL'} {what} p{q * 100:g}: truth {true / 1e6:.3f} ms, measured {found / 1e6:.3f} ms, "
                  f"{off / 1e6:+.3f} ms ({off / true * 100:+.2f} %)", flush=True)
    return missed


def main():
    missed = 0
    for scenario, file, seconds in SCENARIOS:
        for way, scheme, options in WAYS:
            name = f"{scenario}, {way}"
            if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
                continue
            if scheme == "https" and not shutil.which("openssl"):
                print(f"SKIPPED: {name}: needs openssl")
                continue
            with tempfile.TemporaryDirectory(prefix="truetail-streams-") as place:
                folder = Path(place)
                (folder / "constant.toml").write_text(CONSTANT)
                secured = certificate(folder) if scheme == "https" else []
                with server(file or folder / "constant.toml", secured, folder) as origin:
                    run = measured(f"{origin}/v1/completions", seconds, options, folder)
                if run["tally"]["responses"] == 0:
                    sys.exit(f"{name}: there was no answer; HTTP/2 needs a build with --features serve-http2")
                missed += compare(name, run, truth(folder))
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
