#!/usr/bin/env python3
"""CPU time of an event of a language model's answer, of two builds of truetail: bench/events.py --before PROGRAM.

    cargo build --release -p truetail && bench/events.py --before PROGRAM

A server on one processor sends answers of 100 and of 400 events, each whole at once, to one user on the other. The CPU time of the runs with 400, less that of
those with 100, divided by the events between them, is that of an event: reading it from the kernel, decoding it, and noting its time. Builds take turns, and the
ratio is one of medians. `--json FILE` writes every round.
"""

import argparse
import json
import os
import statistics
from pathlib import Path

import extras
import machine

FEW, MANY = 100, 400


def cpu_seconds(program, url, events, answers):
    """User and system time of a run whose answers have this number of events."""
    return extras.closed_loop(program, f"{url}events{events}", extras.LLM, answers)["cpu_s"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--before", required=True, help="the build to compare with")
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--answers", type=int, default=12_000, help="in each run")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    builds = {"before": os.path.abspath(asked.before), "after": str(machine.TARGET / "truetail")}
    url = extras.served()
    found = {name: [] for name in builds}
    for _ in range(asked.rounds):
        for name, program in builds.items():
            few, many = (cpu_seconds(program, url, events, asked.answers) for events in (FEW, MANY))
            found[name].append((many - few) / (asked.answers * (MANY - FEW)) * 1e9)
        print("  " + ", ".join(f"{name} {rounds[-1]:.0f}" for name, rounds in found.items()) + " ns an event", flush=True)
    before, after = (statistics.median(found[name]) for name in builds)
    print(f"medians: {before:.0f} and {after:.0f} ns, {after / before:.2f} x")
    if asked.json:
        Path(asked.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
