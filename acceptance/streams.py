#!/usr/bin/env python3
"""Are the times of streams those that the server knows? Each run is compared with the truth log of `truetail serve`.

    cargo build --release -p truetail && python3 acceptance/streams.py [NAME…]

NAME is a part of the name of a case, such as `constant` or `HTTP/2`. TLS and HTTP/2 come by nginx in front of the server, and need nginx
and openssl; what nginx adds is shown by a case without either. TTFT and gaps between events with content at p50 and p99 must be within 1 % or
0.2 ms of the truth, whichever is more. Each check prints what it found, and how late truetail itself was; the exit code is 0 if all
hold. A busy machine delays server, nginx and client, and only the lateness of the server is part of the truth. Traffic stays on loopback.

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
import socket
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
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
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
# Name, scheme and options of truetail, whether nginx stands between, and what it speaks.
WAYS = [
    ("HTTP/1.1", "http", [], None),
    ("HTTP/1.1 by nginx", "http", [], ""),
    ("HTTP/1.1 over TLS by nginx", "https", ["--insecure"], "ssl"),
    ("HTTP/2 over TLS by nginx", "https", ["--insecure", "--http2"], "ssl http2"),
]
SCENARIOS = [("constant", None, 30), ("06-model-that-stalls", "06", 60)]


@contextmanager
def server(scenario, folder):
    """The port of a server with truth logs, which are complete when the block is left."""
    command = [BINARY, "serve", "--scenario", scenario, "--listen", "127.0.0.1:0"]
    command += ["--truth", folder / "truth.csv", "--truth-events", folder / "events.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline()
        listening = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if not listening:
            sys.exit(f"truetail serve did not start: it said {line!r}")
        yield int(listening.group(1))
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()


@contextmanager
def proxy(listen, to, folder):
    """The port of an nginx that hands on each event as it comes; the server's own port where `listen` is None."""
    if listen is None:
        yield to
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if "ssl" in listen:
        request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
        request += ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
        subprocess.run(request, check=True, capture_output=True)
    certificate = f"ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;" if "ssl" in listen else ""
    (folder / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr error;
events {{ worker_connections 4096; }}
http {{
  access_log off; proxy_buffering off; keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream model {{ server 127.0.0.1:{to}; keepalive 256; }}
  server {{
    listen 127.0.0.1:{port} {listen}; {certificate}
    location / {{ proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
""")
    process = subprocess.Popen([NGINX, "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                probe.settimeout(0.05)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            sys.exit("nginx did not start")
        yield port
    finally:
        process.terminate()
        process.wait()


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
        for way, scheme, options, listen in WAYS:
            name = f"{scenario}, {way}"
            if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
                continue
            if listen is not None and not (NGINX and shutil.which("openssl")):
                print(f"SKIPPED: {name}: needs nginx and openssl")
                continue
            with tempfile.TemporaryDirectory(prefix="truetail-streams-") as place:
                folder = Path(place)
                (folder / "constant.toml").write_text(CONSTANT)
                with server(file or folder / "constant.toml", folder) as port, proxy(listen, port, folder) as reached:
                    run = measured(f"{scheme}://127.0.0.1:{reached}/v1/completions", seconds, options, folder)
                missed += compare(name, run, truth(folder))
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
