#!/usr/bin/env python3
"""Compares unary gRPC calls of truetail with its own HTTP/2 requests, h2load and ghz: bench/grpc.py --help.

    cargo build --release -p truetail -p truetail-bench && tools/install.sh ghz && bench/grpc.py

The server answers each call with one message and `grpc-status: 0`. It runs on processor 0, and each client on processor 1, with one
connection and up to 32 calls at once. Every client sends the same body.

call      truetail run grpc://…
request   truetail run http://… --http2 with the same body, to a server that answers without trailers: its own plain request
h2load    the body of the call as that of a POST. With --rps it sends as soon as it may, in bursts, and reads no message.
ghz       its own client, with as many calls a second

Printed is the CPU time of the client for each call, less that of a run of a tenth of the length, so that starting it and writing its
report do not count. Clients take turns in random order in each round; ratios of medians are what holds on a shared machine. Arrival lag p99 is
truetail's own. `--json FILE` writes every run.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

import machine

STREAMS = 32
SCHEMA = """syntax = "proto3";
package truth;
message HelloRequest { string name = 1; }
message HelloReply { string message = 1; }
service Greeter { rpc SayHello(HelloRequest) returns (HelloReply); }
"""
MESSAGE = b"\0\0\0\0\x07\n\x05world"


class Server(machine.Server):
    """The minimal HTTP/2 server; with `grpc`, each answer is that of a call."""

    def __init__(self, grpc):
        super().__init__(stamps="grpc" if grpc else None, name="bench-http2-server")
        self.place = self.url.removeprefix("http://").rstrip("/")

    def end(self):
        self.process.kill()
        self.process.wait()


def commands(call, plain, folder, rate):
    schema, body = Path(folder) / "truth.proto", Path(folder) / "body"
    schema.write_text(SCHEMA)
    body.write_bytes(MESSAGE)
    ours = [machine.TARGET / "truetail", "run"]
    load = ["--threads", 1, "--json", "--quiet", "--no-save", "--no-preflight", "--connections", 1, "--max-streams", STREAMS, "-r", rate]
    headers = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
    path = "truth.Greeter/SayHello"
    found = {}
    for timing in ("auto", "cheap"):
        found[f"call, --timing {timing}"] = lambda seconds, timing=timing: [*ours, f"grpc://{call.place}/{path}", "--proto", schema, "--data", '{"name":"world"}', *load, "-d", f"{seconds}s", "--timing", timing]
        found[f"request, --timing {timing}"] = lambda seconds, timing=timing: [*ours, f"{plain.url}{path}", "--http2", "-X", "POST", "--data-file", body, *headers, *load, "-d", f"{seconds}s", "--timing", timing]
    if h2load := machine.program("h2load"):
        found["h2load"] = lambda seconds: [h2load, "-t1", "-c1", f"-m{STREAMS}", f"-D{seconds}", f"--rps={rate}", "-d", body, *headers, f"{call.url}{path}"]
    if ghz := machine.program("ghz"):
        found["ghz"] = lambda seconds: [ghz, "--insecure", "--proto", schema, "--call", "truth.Greeter.SayHello", "-d", '{"name":"world"}', "--connections", 1, "-c", STREAMS,
                                        "--rps", rate, "-n", rate * seconds, "--cpus", 1, "-O", "json", call.place]
    return found


def calls(name, result):
    """The calls that ended well, and truetail's arrival lag p99 in microseconds."""
    if result["exit"] not in (0, 4):
        sys.exit(f"{name} failed: {result['err'][-500:]}")
    if name == "h2load":
        return int(result["out"].split(" succeeded")[0].rsplit(" ", 1)[1]), None
    report = json.loads(result["out"])
    if name == "ghz":
        return report["statusCodeDistribution"].get("OK", 0), None
    lag = next(row["value_ns"] for row in report["generator_lag"]["quantiles"] if row["q"] == 0.99)
    return report["tally"]["responses"], lag / 1e3


def once(name, command, seconds):
    short, long = (machine.measured(command(length)) for length in (max(1, seconds // 10), seconds))
    (few, _), (many, lag) = calls(name, short), calls(name, long)
    return {"calls": many, "us": (long["cpu_s"] - short["cpu_s"]) / (many - few) * 1e6, "lag_p99_us": lag, "preemptions": long["preemptions"]}


def print_table(rate, runs):
    median = lambda name, key: statistics.median(run[key] for run in runs[name])
    print(f"\n{rate:,}/s\n  {'client':26}{'CPU, us a call':>16}{'lag p99, us':>13}{'calls':>12}")
    for name in runs:
        lag = f"{median(name, 'lag_p99_us'):.0f}" if runs[name][0]["lag_p99_us"] is not None else "-"
        print(f"  {name:26}{median(name, 'us'):>16.2f}{lag:>13}{median(name, 'calls'):>12,.0f}")
    for timing in ("auto", "cheap"):
        ratios = [f"{other} {median(f'call, --timing {timing}', 'us') / median(other, 'us'):.2f}" for other in (f"request, --timing {timing}", "h2load", "ghz") if other in runs]
        print(f"  call, --timing {timing} / {', '.join(ratios)}")


def main():
    asked = machine.asked(__doc__, 10)
    found = {}
    call, plain = Server(True), Server(False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for rate in (10_000, 50_000):
                clients = commands(call, plain, folder, rate)
                found[rate] = machine.in_turns(asked.rounds, clients, lambda name: once(name, clients[name], asked.seconds))
                print_table(rate, found[rate])
    finally:
        call.end(), plain.end()
    machine.report(found, asked.json)


if __name__ == "__main__":
    main()
