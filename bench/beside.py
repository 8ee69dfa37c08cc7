#!/usr/bin/env python3
"""What reading a service's metrics and spans takes of a processor, beside the load: bench/beside.py --help.

    cargo build --release -p truetail && bench/beside.py

    without        --trace alone
    --scrape       Prometheus text of --series samples once a second, of which each changes
    --otlp-receive     --spans spans for each request, in OTLP over HTTP, posted once a second; protobuf, then JSON

A service on loopback answers at --rate. Shown is the CPU time of truetail without its threads that send, as a share of one processor over the
load, and how many spans the run kept. What is computed after the load is not in it. `--json FILE` keeps the figures.
"""

import argparse
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import machine


class Service:
    """Answers requests, exports the spans of their traces, and shows metrics."""

    def __init__(self, series, spans):
        self.series, self.spans, self.answered = series, spans, 0
        self.traces, self.export_to, self.ended = [], None, False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.export, daemon=True).start()

    def accept(self):
        while not self.ended:
            stream, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(stream,), daemon=True).start()

    def answer(self, stream):
        rest = b""
        while got := stream.recv(65536):
            *heads, rest = (rest + got).split(b"\r\n\r\n")
            for head in heads:
                body = self.metrics() if head.startswith(b"GET /metrics") else b"ok"
                stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                if found := re.search(rb"traceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})", head):
                    self.answered += 1
                    self.traces.append(found.groups())

    def metrics(self):
        lines = [f'requests_total{{path="/items/{nth}",code="200"}} {self.answered + nth}' for nth in range(self.series)]
        return "\n".join(["# TYPE requests_total counter", *lines, ""]).encode()

    def export(self):
        while not self.ended:
            time.sleep(1)
            traces, self.traces = self.traces, []
            if self.export_to and traces:
                encode, kind, address = self.export_to
                for at in range(0, len(traces), 170):
                    body = encode([span for trace in traces[at : at + 170] for span in self.of(trace)])
                    asked = urllib.request.Request(f"http://{address}/v1/traces", body, {"Content-Type": kind})
                    urllib.request.urlopen(asked).read()

    def of(self, trace):
        """The spans of a trace: (trace, span, parent, name, start, end), each within the one before."""
        now, parent = time.time_ns(), trace[1]
        for nth in range(self.spans):
            span = os.urandom(8).hex().encode()
            yield trace[0], span, parent, ("edge", "app", "db")[nth % 3], now + nth * 1_000, now + 1_000_000 - nth * 1_000
            parent = span


def as_json(spans):
    listed = [
        {"traceId": trace.decode(), "spanId": span.decode(), "parentSpanId": parent.decode(), "name": name, "kind": 2,
         "startTimeUnixNano": str(start), "endTimeUnixNano": str(end), "attributes": [{"key": "http.route", "value": {"stringValue": "/items"}}]}
        for trace, span, parent, name, start, end in spans
    ]
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "bench"}}]}
    return json.dumps({"resourceSpans": [{"resource": service, "scopeSpans": [{"spans": listed}]}]}).encode()


def part(number, content):
    """A field of protobuf with bytes."""
    length, size = b"", len(content)
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def attribute(key, value):
    return part(1, key) + part(2, part(1, value))


def as_protobuf(spans):
    listed = b""
    for trace, span, parent, name, start, end in spans:
        ids = part(1, bytes.fromhex(trace.decode())) + part(2, bytes.fromhex(span.decode())) + part(4, bytes.fromhex(parent.decode()))
        times = b"\x30\x02\x39" + struct.pack("<Q", start) + b"\x41" + struct.pack("<Q", end)
        listed += part(2, ids + part(5, name.encode()) + times + part(9, attribute(b"http.route", b"/items")))
    return part(1, part(1, part(1, attribute(b"service.name", b"bench"))) + part(2, listed))


def cpu_seconds(stat):
    """The CPU time in a stat file of /proc, and the name of its thread."""
    name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)", stat.read_text().strip()).groups()
    fields = rest.split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), name


def seconds_beside(pid):
    """CPU time of a process, threads that ended included, without that of the threads that send."""
    process = Path(f"/proc/{pid}")
    sending = sum(seconds for seconds, name in map(cpu_seconds, process.glob("task/*/stat")) if re.fullmatch(r"truetail-\d+", name))
    return cpu_seconds(process / "stat")[0] - sending


def once(asked, extra, export):
    service = Service(asked.series, asked.spans)
    with socket.create_server(("127.0.0.1", 0)) as free:
        receiver = "127.0.0.1:%d" % free.getsockname()[1]
    extra = [word.format(service=service.address, receiver=receiver) for word in extra]
    service.export_to = export and (*export, receiver)
    command = [machine.TARGET / "truetail", "run", f"http://{service.address}/", "-r", asked.rate, "-d", f"{asked.seconds}s", "--threads", 1, "--trace",
               "--trace-sampled", "all", "--json", "--quiet", "--no-save", "--no-preflight", *extra]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    time.sleep(asked.seconds - 1)
    beside = seconds_beside(process.pid)
    out = process.communicate()[0]
    service.ended = True
    if process.returncode not in (0, 3, 4):
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return beside / (asked.seconds - 1), json.loads(out)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rate", type=int, default=500, help="requests a second (500)")
    options.add_argument("--seconds", type=int, default=20)
    options.add_argument("--series", type=int, default=2000, help="samples in the metrics text (2,000)")
    options.add_argument("--spans", type=int, default=3, help="spans of a request (3)")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    receive = ["--otlp-receive", "{receiver}"]
    cases = {
        "without": ([], None),
        "--scrape": (["--scrape", "http://{service}/metrics"], None),
        "--otlp-receive, protobuf": (receive, (as_protobuf, "application/x-protobuf")),
        "--otlp-receive, JSON": (receive, (as_json, "application/json")),
    }
    print(f"{asked.rate}/s, {asked.series} samples a second, {asked.rate * asked.spans} spans a second")
    shares = {}
    for name, (extra, export) in cases.items():
        shares[name], run = once(asked, extra, export)
        spans = (run.get("server_timing") or {}).get("spans")
        kept = f", {json.dumps(spans)}" if spans else ""
        print(f"  {name:26}{shares[name]:7.2%} of a processor{kept}", flush=True)
    if asked.json:
        Path(asked.json).write_text(json.dumps(shares, indent=1) + "\n")


if __name__ == "__main__":
    main()
