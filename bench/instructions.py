#!/usr/bin/env python3
"""Instructions per request, counted by valgrind's callgrind: make instructions, make instructions-check, or bench/instructions.py --help.

Runs `bench-instructions`, which reads no clock, with N and with 2N requests, so that startup and shutdown cancel out, and
writes a line to bench/results/instructions.csv. With --check it writes nothing, and fails if the total grew. Without valgrind
--check only says so, unless TRUETAIL_STRICT is 1. The columns and their limits are explained in bench/README.md.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "profiling/bench-instructions"
RESULTS = ROOT / "bench/results/instructions.csv"
# The functions that each column sums up, including what they call. They are named in bench-instructions.rs.
PARTS = {
    "total": ["fixed_run"],
    "driver": ["part_driver_turn", "part_driver_finish"],
    "recorder": ["part_recorder_plan", "part_recorder_record"],
    "parser": ["part_parser"],
    "schedule": ["part_schedule"],
}
COLUMNS = ["commit", "date", *PARTS, "rustc"]
# The check fails above this share of growth.
MAX_GROWTH = 0.03


def output(*command):
    """The output of a command. If it fails, exits with its error message."""
    ran = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{command[0]} failed (exit {ran.returncode}): {ran.stderr.strip()[-500:]}")
    return ran.stdout


def inclusive(requests, folder):
    """Inclusive instructions of each function of the program, by the last part of its name."""
    counts = Path(folder) / f"{requests}.callgrind"
    output("valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", PROGRAM, requests)
    table = output("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", counts)
    found = re.findall(r"^ *([\d,]+) .*\bbench_instructions::(\w+)", table, re.MULTILINE)
    # Inlined code has lines of its own under the function's name, each for a part: the largest is the whole.
    whole = {}
    for count, name in found:
        whole[name] = max(whole.get(name, 0), int(count.replace(",", "")))
    return whole


def per_request(requests):
    with tempfile.TemporaryDirectory() as folder:
        once, twice = inclusive(requests, folder), inclusive(2 * requests, folder)
    missing = [name for names in PARTS.values() for name in names if name not in once or name not in twice]
    if missing:
        sys.exit(f"callgrind tells nothing of {', '.join(missing)}: was it inlined, or renamed?")
    grown = lambda names: sum(twice[name] - once[name] for name in names) / requests
    return {part: f"{grown(names):.1f}" for part, names in PARTS.items()}


def commit():
    """The measured commit, with a + if the working tree differs from it."""
    changed = output("git", "status", "--porcelain", "--", "crates", "bench/src", "Cargo.toml", "Cargo.lock").strip()
    return output("git", "rev-parse", "--short=10", "HEAD").strip() + ("+" if changed else "")


def stored(path):
    """The lines of the file; none if it does not exist."""
    return list(csv.DictReader(path.open(newline=""))) if path.exists() else []


def grown_too_much(line, before):
    """A sentence if the total exceeds that of the stored line by more than MAX_GROWTH, else None."""
    limit = float(before["total"]) * (1 + MAX_GROWTH)
    if float(line["total"]) <= limit:
        return None
    return (
        f"{line['total']} instructions a request are more than {limit:.1f}, which is {MAX_GROWTH:.0%} above the line of {before['commit']}. "
        "Win them back, or say in the commit what they buy and run make instructions, which stores a new line"
    )


def record(line, path):
    """Appends the line, or replaces the line of the same commit. Returns the line before it."""
    lines = stored(path)
    lines = [known for known in lines if known["commit"] != line["commit"]] + [line]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return lines[-2] if len(lines) > 1 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000, help="of the shorter run [100000]")
    parser.add_argument("--check", action="store_true", help=f"write nothing; fail if the total exceeds the last line by more than {MAX_GROWTH:.0%}".replace("%", "%%"))
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file that gets the line")
    options = parser.parse_args()
    if options.requests < 1:
        parser.error("--requests must be at least 1")
    missing = [program for program in ("valgrind", "callgrind_annotate") if not shutil.which(program)]
    if missing:
        print(f"SKIPPED: the count of instructions: no {missing[0]} (apt-get install -y valgrind)")
        sys.exit(0 if options.check and os.environ.get("TRUETAIL_STRICT") != "1" else 2)
    output("cargo", "build", "--quiet", "--profile", "profiling", "--locked", "-p", "truetail-bench", "--bin", "bench-instructions")
    line = {"commit": commit(), "date": output("git", "log", "-1", "--format=%cs").strip(), **per_request(options.requests), "rustc": output("rustc", "--version").split()[1]}
    known = stored(options.out)
    if options.check and not known:
        sys.exit(f"{options.out} has no line to compare with; make instructions writes one")
    before = known[-1] if options.check else record(line, options.out)
    for part in PARTS:
        change = f"  ({float(line[part]) / float(before[part]) - 1:+.1%} against {before['commit']})" if before else ""
        print(f"  {part:9} {line[part]:>8} instructions a request{change}")
    if not options.check:
        print(f"written to {options.out}")
    elif line["rustc"] != before["rustc"]:
        print(f"not decided: the last line is of rustc {before['rustc']}, and this is {line['rustc']}. make instructions stores a new line")
    elif complaint := grown_too_much(line, before):
        sys.exit(complaint)


if __name__ == "__main__":
    main()
