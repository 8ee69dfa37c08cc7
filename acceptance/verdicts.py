#!/usr/bin/env python3
"""How often a run doubts itself, and how gates decide, against servers that people have: mostly Go with an answer after 2 ms.

    cargo build --release -p truetail && python3 acceptance/verdicts.py [--runs 20] [NAME…]

Each case repeats one load and counts the verdicts, their reasons, and the exit codes. `quiet` needs a machine with nothing
else to do: a run in which the hypervisor took the processors away for more than 0.5 % of the time is left out and repeated,
at most as often again. `busy` and `first-busy` compile beside the load. Needs Go; `first` also Node and nginx
(`tools/install.sh nginx`). Traffic stays on loopback. The exit code is 0 if every
promise holds.
"""

import argparse
import collections
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
SCRATCH = tempfile.TemporaryDirectory(prefix="truetail-verdicts-")
LOADS = [("300", "8s"), ("1000", "15s")]
broken = []


def promise(what, holds, found):
    print(f"  {'ok  ' if holds else 'FAIL'} {what}: {found}", flush=True)
    if not holds:
        broken.append(what)


class Server:
    """The Go server, built once."""

    binary = Path(SCRATCH.name) / "delay"

    def __init__(self, delay):
        if not Server.binary.exists():
            if not shutil.which("go"):
                sys.exit("acceptance/verdicts.py: Go is not installed")
            subprocess.run(["go", "build", "-o", Server.binary, HERE / "delay.go"], check=True)
        self.process = subprocess.Popen([Server.binary, "-delay", delay], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def load(url, *flags):
    """run.json of one run, and its exit code."""
    command = [BINARY, "run", url, *flags, "--no-save", "--quiet", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout), done.returncode


def p(run, q):
    """A quantile of the response time in ms, with its lower partner."""
    found = next(one for one in run["response_time"]["quantiles"] if one["q"] == q)
    ms = lambda name: None if found.get(name) is None else round(found[name] / 1e6, 3)
    return ms("without_generator_ns"), ms("value_ns")


def stolen(run):
    """The share of the processors' time in which the hypervisor ran something else."""
    return (run["generator"]["surroundings"]["steal_ns"] or 0) / (run["elapsed_ns"] * os.cpu_count())


def repeated(runs, url, *flags, most_stolen=1.0):
    """Verdicts and exit codes of several runs; each run that is not VALID says why."""
    states, exits = collections.Counter(), collections.Counter()
    for number in range(2 * runs):
        if sum(states.values()) == runs:
            break
        run, code = load(url, *flags)
        if stolen(run) > most_stolen:
            print(f"    run {number + 1}: left out, {stolen(run):.1%} stolen; it was {run['verdict']['state']}", flush=True)
            continue
        state = run["verdict"]["state"]
        states[state] += 1
        exits[code] += 1
        if state != "VALID":
            reasons = "; ".join(f"{one['code']}: {one['message']}" for one in run["verdict"]["reasons"])
            print(f"    run {number + 1}: {state} {reasons}", flush=True)
        print(f"    run {number + 1}: p50 {p(run, 0.5)} p99 {p(run, 0.99)} ms, exit {code}, {stolen(run):.2%} stolen", flush=True)
    return dict(states), dict(exits)


def quiet(runs):
    """Nothing else runs: at least 18 of 20 are VALID."""
    with Server("2ms") as server:
        for rate, duration in LOADS:
            states, _ = repeated(runs, server.url, "-r", rate, "-d", duration, most_stolen=0.005)
            promise(f"-r {rate} -d {duration}: VALID in nine of ten", states.get("VALID", 0) >= 0.9 * runs, states)


class Build:
    """A compiler that starts again and again beside the load."""

    source = "use std::collections::*;" + "".join(
        f"pub fn f{i}(m: &mut BTreeMap<u64, Vec<String>>) -> usize {{ m.entry({i}).or_default().push(format!(\"{{:?}}\", m.len())); m.values().map(|v| v.iter().map(|s| s.len()).sum::<usize>()).sum() }}\n"
        for i in range(400)
    )

    def __enter__(self):
        file = Path(SCRATCH.name) / "beside.rs"
        file.write_text(Build.source)
        compile_ = f"rustc --crate-type lib -C opt-level=3 --emit=obj -o {file}.o {file}"
        loop = f"while true; do {compile_} >/dev/null 2>&1 & {compile_}2 >/dev/null 2>&1; wait; done"
        self.process = subprocess.Popen(["bash", "-c", loop], start_new_session=True)
        time.sleep(1)
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def busy(runs):
    """A build runs beside the load: none is INVALID, and the gate is decided in all."""
    with Server("2ms") as server, Build():
        for rate, duration in LOADS:
            states, exits = repeated(runs, server.url, "-r", rate, "-d", duration, "--fail-if", "p99 > 50ms")
            promise(f"-r {rate} -d {duration} beside a build: none INVALID", not states.get("INVALID"), states)
            promise("p99 > 50ms is decided in all", set(exits) <= {0, 3}, exits)


class Nginx:
    """A file of a kilobyte, sent by nginx."""

    conf = """daemon off; pid {folder}/nginx.pid; error_log stderr crit; worker_processes 1; events {{ }}
        http {{ access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
        uwsgi_temp_path {folder}; scgi_temp_path {folder}; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}"""

    def __init__(self):
        tools = os.environ.get("TRUETAIL_TOOLS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "truetail/tools"
        binary = shutil.which("nginx") or Path(tools) / "bin/nginx"
        folder, port = Path(SCRATCH.name), free_port()
        (folder / "file.txt").write_text("x" * 1023 + "\n")
        (folder / "nginx.conf").write_text(Nginx.conf.format(folder=folder, port=port))
        os.chmod(folder, 0o755)
        self.process = subprocess.Popen([binary, "-c", folder / "nginx.conf", "-p", folder])
        self.url = f"http://127.0.0.1:{port}/file.txt"
        wait_for(port)

    __enter__, __exit__ = Server.__enter__, Server.__exit__


class Node:
    """A handler of Node that answers after 5 ms."""

    def __init__(self):
        port = free_port()
        handler = f"require('http').createServer((q, a) => setTimeout(() => a.end('ok'), 5)).listen({port}, '127.0.0.1')"
        self.process = subprocess.Popen(["node", "-e", handler])
        self.url = f"http://127.0.0.1:{port}/"
        wait_for(port)

    __enter__, __exit__ = Server.__enter__, Server.__exit__


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"acceptance/verdicts.py: nobody listens on port {port}")


def first_runs(*flags):
    """Verdicts and exit codes of 10 s at five rates against each of three servers, twice."""
    states, exits = collections.Counter(), collections.Counter()
    for start in [Nginx, lambda: Server("2ms"), Node]:
        with start() as server:
            for rate in ["1", "5", "50", "300", "1000"]:
                print(f"  {server.url} -r {rate}", flush=True)
                for found, all_of in zip(repeated(2, server.url, "-r", rate, "-d", "10s", *flags), [states, exits]):
                    all_of.update(found)
    return dict(states), dict(exits)


def first(_):
    """What somebody sees who tries it for the first time: nothing else runs; 28 of 30 are VALID with exit 0, none INVALID."""
    states, exits = first_runs()
    promise("VALID with exit 0 in 28 of 30", states.get("VALID", 0) >= 28 and exits.get(0, 0) >= 28, (states, exits))
    promise("none INVALID", not states.get("INVALID"), states)


def first_busy(_):
    """The same beside a build: none is INVALID, and the gate is decided in all."""
    with Build():
        states, exits = first_runs("--slo", "p50 < 500ms")
    promise("beside a build: none INVALID", not states.get("INVALID"), states)
    promise("p50 < 500ms is decided in all", set(exits) <= {0, 3}, exits)


def stopped(runs):
    """SIGSTOP of the generator for 1.5 s in 20 s: INVALID without a gate, and nothing is billed to the server."""
    with Server("2ms") as server:
        for _ in range(max(1, runs // 10)):
            process = subprocess.Popen([BINARY, "run", server.url, "-r", "1000", "-d", "20s", "--no-save", "--quiet", "--json"], stdout=subprocess.PIPE, text=True)
            time.sleep(8)
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            process.send_signal(signal.SIGCONT)
            run = json.loads(process.communicate()[0])
            codes = [reason["code"] for reason in run["verdict"]["reasons"]]
            promise("stopped for 1.5 s of 20 s: INVALID", run["verdict"]["state"] == "INVALID" and process.returncode == 4, codes)
            service = next(one["value_ns"] for one in run["service_time"]["quantiles"] if one["q"] == 0.99) / 1e6
            promise("p99 of the service time is not the pause", service < 500, f"{service} ms, p99 {p(run, 0.99)}")


def fast(runs):
    """10 000/s against a server of some 50 µs: `balanced` is not INVALID, `cheap` has ranges."""
    with Server("0s") as server:
        for timing in ["balanced", "cheap"]:
            states = collections.Counter()
            for _ in range(max(1, runs // 4)):
                run, code = load(server.url, "-r", "10000", "-d", "5s", "--timing", timing)
                states[run["verdict"]["state"]] += 1
                low, high = p(run, 0.5)
                print(f"    {timing}: {run['verdict']['state']} p50 {low} … {high} p99 {p(run, 0.99)} {[r['code'] for r in run['verdict']['reasons']]}", flush=True)
                if timing == "cheap":
                    promise("cheap has a range at p50", low is not None and low < 0.9 * high, (low, high))
            if timing == "balanced":
                promise("balanced at 10 000/s: not INVALID", not states.get("INVALID"), dict(states))


def connect(runs):
    """Opening a connection takes as long in every timing, plain and over TLS."""
    for scheme, flags in [("http", []), ("https", ["--insecure"])]:
        with Tls() if scheme == "https" else Server("0s") as server:
            for rate in ["10", "50", "200"]:
                p50 = {}
                for timing in ["balanced", "auto", "cheap"]:
                    run, _ = load(server.url, "-r", rate, "-d", "8s", "--no-keepalive", "--timing", timing, *flags)
                    p50[timing] = next(one["value_ns"] for one in run["connect_time"]["quantiles"] if one["q"] == 0.5) / 1e6
                near = max(p50.values()) - min(p50.values()) < 0.3
                promise(f"{scheme} at {rate}/s: connect_time p50 within 0.3 ms", near, p50)


class Tls:
    """The TLS server of the benchmarks: cargo build --release -p truetail-bench."""

    def __init__(self):
        binary = Path(BINARY).parent / "bench-tls-server"
        self.process = subprocess.Popen([binary, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    __enter__, __exit__ = Server.__enter__, Server.__exit__


CASES = {"first": first, "first-busy": first_busy, "quiet": quiet, "busy": busy, "stopped": stopped, "fast": fast, "connect": connect}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}; all without")
    parser.add_argument("--runs", type=int, default=20, help="how often each load is repeated [20]")
    options = parser.parse_args()
    for name in options.names:
        if name not in CASES:
            parser.error(f"'{name}' is no case; there are {', '.join(CASES)}")
    for name in options.names:
        print(f"{name}: {CASES[name].__doc__}", flush=True)
        CASES[name](options.runs)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
