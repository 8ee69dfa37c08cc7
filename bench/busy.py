#!/usr/bin/env python3
"""What other programs on the machine do to truetail's generator lag, without and with --realtime, in turns: bench/busy.py --help.

Other programs are loops that only count, some for each processor, each in a session of its own as programs of other users are: Linux
may share processors out by session. truetail and the server run beside them on all processors. The figures are truetail's own (generator lag in
run.json), because the question is what the scheduler of this machine adds before a request is sent.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine

WAYS = {"default": [], "--realtime": ["--realtime"]}


def busy(programs):
    """So many programs that never sleep."""
    loop = [sys.executable, "-c", "while True: pass"]
    return [subprocess.Popen(loop, start_new_session=True) for _ in range(programs)]


def lag(flags, url, options):
    """Generator lag of one run, in microseconds."""
    with tempfile.TemporaryDirectory(prefix="truetail-bench-") as folder:
        out = Path(folder) / "run"
        command = [machine.TARGET / "truetail", "run", url, "-r", options.rate, "-d", f"{options.seconds}s", "--no-preflight", "--quiet", "--out", out, *flags]
        ended = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if not (out / "run.json").exists():
            sys.exit(f"{' '.join(map(str, command))}: {ended.stderr.strip()}")
        result = json.loads((out / "run.json").read_text())
    found = result["generator_lag"]
    at = {quantile["q"]: quantile["value_ns"] for quantile in found["quantiles"]}
    return {"p50_us": at[0.5] / 1e3, "p99_us": at[0.99] / 1e3, "max_us": found["max_ns"] / 1e3, "verdict": result["verdict"]["state"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="runs in each way [10]")
    parser.add_argument("--seconds", type=int, default=5, help="length of a run [5]")
    parser.add_argument("--rate", type=int, default=1_000, help="requests per second [1000]")
    parser.add_argument("--programs", type=int, default=2 * (os.cpu_count() or 1), help="other programs [two for each processor]")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "bench/results" / time.strftime("%Y-%m-%d"))
    parser.add_argument("--no-build", action="store_true", help="measure the release build that is there")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.no_build:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "-p", "truetail", "-p", "truetail-bench"], cwd=machine.ROOT, check=True)
    server = machine.Server()
    others = busy(options.programs)
    runs = {way: [] for way in WAYS}
    try:
        for number in range(options.rounds):
            for way in random.sample(list(WAYS), len(WAYS)):
                runs[way].append(lag(WAYS[way], server.url, options))
            print(f"round {number + 1}: " + ", ".join(f"{way} p99 {runs[way][-1]['p99_us']:.0f} us, max {runs[way][-1]['max_us']:.0f} us, {runs[way][-1]['verdict']}" for way in WAYS), flush=True)
    finally:
        for process in [*others, server.process]:
            process.kill()
            process.wait()
    table = {way: {figure: statistics.median(run[figure] for run in runs[way]) for figure in ("p50_us", "p99_us", "max_us")} for way in WAYS}
    for way, figures in table.items():
        print(f"  {way:12} medians of {options.rounds} runs: " + ", ".join(f"{name} {value:.1f}" for name, value in figures.items()))
    result = {"versions": machine.versions(), "rate": options.rate, "seconds": options.seconds, "programs": options.programs, "runs": runs, "medians": table}
    (options.out / "busy.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
