#!/usr/bin/env python3
"""Does `truetail capacity` find a limit that is known exactly, and does it know when the generator is the limit?

    cargo build --release -p truetail && python3 acceptance/capacity.py [TIMES] [MINUTES] [AT_ONCE]

`truetail serve` answers five requests at once, 10 ms each. With random arrivals p99 reaches 50 ms at 447.4/s: the simulation of
`cargo run --release -p truetail-study --example capacity_study truth`. The search asks for 'p99 < 50ms' TIMES times (5), each with another
seed and at most MINUTES (90; in the simulator half of the searches take 28 and nine of ten 46); both ends must be within 5 % of the exact
answer, which they must enclose. They are at most 6 % apart: with more, ends whose middle is a little off the answer would not both be near
it. AT_ONCE searches (1), each with a server of its own,
go on at the same time: one of them takes a few hundredths of a processor. A machine that is busy otherwise makes the server slower, and
that is found then.

The last check pins a generator to a processor that a busy loop takes away from it, and asks for more than it can send: the answer must
be a generator limit, never a capacity. It needs two processors, and Linux.

Each check prints what it found; the exit code is 0 if all hold. Traffic stays on loopback.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
EXACT = 447.4
WITHIN = 0.05
FIVE_AT_ONCE = 'baseline = "10ms"\nconcurrency = 5'


@contextmanager
def serving(service, work, processor=None):
    """The URL of a server that behaves as `service` says, which ends with the block."""
    scenario = Path(work) / "service.toml"
    scenario.write_text(f'name = "service"\n[workload]\nrate = 100\nduration = "1s"\n[service]\n{service}\n')
    pin = (lambda: os.sched_setaffinity(0, {processor})) if processor is not None else None
    command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--scenario", str(scenario)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=pin)
    try:
        words = process.stdout.readline().split()
        yield next(word.rstrip(",;") for word in words if word.startswith("http://"))
    finally:
        process.kill()
        process.wait()


@contextmanager
def busy(processor, loops):
    """Loops that leave a processor little time."""
    pin = lambda: os.sched_setaffinity(0, {processor})
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=pin) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def capacity(work, url, *flags, processor=None):
    """Exit code and JSON of a search."""
    pin = (lambda: os.sched_setaffinity(0, {processor})) if processor is not None else None
    command = [BINARY, "capacity", url, "--quiet", "--json", *flags]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, preexec_fn=pin)
    if not done.stdout:
        sys.exit(f"truetail capacity: exit code {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def finds_the_limit(seed, minutes):
    with tempfile.TemporaryDirectory(prefix="truetail-capacity-") as work, serving(FIVE_AT_ONCE, work) as url:
        flags = ["--slo", "p99 < 50ms", "--resolution", "6%", "--max-time", f"{minutes}m", "--seed", str(seed)]
        _, result = capacity(work, url, *flags)
    ends = [result["proven_rate"], result["refuted_rate"]]
    near = all(end is not None and abs(end / EXACT - 1) <= WITHIN for end in ends)
    holds = result["state"] == "found" and near and ends[0] <= EXACT <= ends[1]
    seconds = sum(probe["seconds"] for probe in result["probes"])
    print(
        f"  {'ok  ' if holds else 'FAIL'} seed {seed}: {result['state']}, proven {ends[0]}, refuted {ends[1]}, exact {EXACT}; "
        f"met {result['met_rate']}, missed {result['missed_rate']}; {result['requests']} requests, {seconds / 60:.1f} min of load",
        flush=True,
    )
    return holds


def knows_a_starved_generator():
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        sys.exit("the check of a starved generator needs two processors")
    mine, other = processors[:2]
    with tempfile.TemporaryDirectory(prefix="truetail-capacity-") as work:
        with serving('baseline = "0ms"', work, processor=other) as url, busy(mine, 8):
            flags = ["--slo", "p99 < 5ms", "--min-rate", "20k", "--max-rate", "200k", "--max-time", "1m"]
            _, result = capacity(work, url, *flags, processor=mine)
    answers = [probe["answer"] for probe in result["probes"]]
    holds = result["state"] == "generator_limit" and result["refuted_rate"] is None and "misses" not in answers
    print(f"  {'ok  ' if holds else 'FAIL'} a starved generator: {result['state']}, refuted {result['refuted_rate']}, {answers}", flush=True)
    return holds


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    minutes = int(sys.argv[2]) if len(sys.argv) > 2 else 90
    with ThreadPoolExecutor(int(sys.argv[3]) if len(sys.argv) > 3 else 1) as searches:
        held = list(searches.map(lambda seed: finds_the_limit(seed, minutes), range(1, times + 1)))
    print(f"       the limit was found in {sum(held)} of {times}")
    held.append(knows_a_starved_generator())
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
