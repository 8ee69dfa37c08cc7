"""What every benchmark here stands on: the processors, the programs, the gate, the minimal server."""

import argparse
import json
import os
import platform
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
TOOLS = Path(os.environ.get("TRUETAIL_TOOLS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "truetail/tools")
# BENCH_CPUS=0,2 where 0 and 1 share a core.
SERVER_CPU, CLIENT_CPU = map(int, os.environ.get("BENCH_CPUS", "0,1").split(","))
# Separates the two levels of the round trip that were seen on such hosts, 75 to 120 and 350 to 375 ns.
FAR_FROM_NS = 200
# Round trips before and after a run that differ by more than this factor are of two levels.
SAME_LEVEL = 1.4


def program(name):
    """The path of a peer, or None."""
    own = TOOLS / "bin" / name
    return str(own) if own.exists() else shutil.which(name)


def gate():
    out = subprocess.run([TARGET / "bench-gate"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def pinned(cpu):
    return lambda: os.sched_setaffinity(0, {cpu})


class Server:
    """A minimal server. With `stamps`, bench-server writes when its kernel saw each request."""

    def __init__(self, stamps=None, name="bench-server"):
        command = [TARGET / name, "127.0.0.1:0"] + ([stamps] if stamps else [])
        self.stamps = stamps
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=pinned(SERVER_CPU))
        self.url = self.process.stdout.readline().strip()

    def end(self):
        if not self.stamps:
            self.process.kill()
            return self.process.wait() and []
        host, port = re.match(r"http://(.*):(\d+)/", self.url).groups()
        with socket.create_connection((host, int(port))) as stream:
            stream.sendall(b"GET /end HTTP/1.1\r\n\r\n")
        self.process.wait(timeout=30)
        data = Path(self.stamps).read_bytes()
        return list(struct.iter_unpack("=QQQ", data))


def measured(command):
    """Runs a command on the client's processor: output, CPU seconds, peak memory in bytes, wall seconds."""
    began = time.monotonic()
    # Standard error is shown only on failure, because some tools print progress bars and warnings there.
    # Limits tools on tokio to one thread.
    one_thread = {**os.environ, "TOKIO_WORKER_THREADS": "1"}
    process = subprocess.Popen([str(part) for part in command], env=one_thread, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=pinned(CLIENT_CPU))
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "out": out, "err": err, "exit": process.returncode, "cpu_s": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * 1024, "wall_s": time.monotonic() - began, "preemptions": usage.ru_nivcsw,
    }


def in_turns(rounds, names, once):
    """Runs each name in each round, in random order: what once(name) returned, by name."""
    runs = {name: [] for name in names}
    for number in range(rounds):
        for name in random.sample(list(runs), len(runs)):
            runs[name].append(once(name))
        print(f"  round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return runs


def asked(doc, seconds):
    """The options of a benchmark of two clients."""
    options = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--seconds", type=int, default=seconds, help="length of a run")
    options.add_argument("--json", metavar="FILE")
    return options.parse_args()


def report(runs, file):
    """Says how much others computed beside the runs, and keeps them in a file, if one is given."""
    load = os.getloadavg()[0]
    print(f"\nload average {load:.1f} on {os.cpu_count()} processors; {'others computed beside it' if load > 2.5 else 'server and client only'}")
    if file:
        Path(file).write_text(json.dumps({"load_average": load, "runs": runs}, indent=1) + "\n")


def versions():
    said = {"truetail": [TARGET / "truetail", "--version"], "wrk": [program("wrk"), "-v"], "wrk2": [program("wrk2"), "-v"], "oha": [program("oha"), "--version"], "h2load": [program("h2load"), "--version"]}
    first = lambda command: (subprocess.run([str(c) for c in command], capture_output=True, text=True).stdout.splitlines() or ["?"])[0].split(" Copyright")[0]
    found = {name: first(command) for name, command in said.items() if command[0]}
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {**found, "kernel": platform.release(), "cpu": cpu.group(1) if cpu else platform.machine(), "cpus": os.cpu_count()}
