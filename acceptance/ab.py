#!/usr/bin/env python3
"""Does `truetail ab` find a lock around a map, and does it find nothing where there is nothing? Two builds of one Go service.

    cargo build --release -p truetail && python3 acceptance/ab.py [TIMES]

Needs Go. TIMES (10 unless given) is how often the same build is compared with itself, 5 rounds of 4 s each. Intervals of 95 % call one
comparison of the same build in 20 different at p99; the check fails where more are than chance gives in one of 50 such series.
Each check prints what it found; the exit code is 0 if all hold. Traffic stays on loopback.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from math import comb
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
LOAD = ["-r", "700", "--spacing", "poisson", "-d", "4s", "--rounds", "5", "--quiet", "--json"]


@contextmanager
def service(binary, *flags):
    process = subprocess.Popen([binary, *flags], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip() + "/"
    finally:
        process.kill()
        process.wait()


def ab(work, a, b, *more):
    """Exit code and JSON of a comparison."""
    done = subprocess.run([BINARY, "ab", a, b, *LOAD, *more], cwd=work, capture_output=True, text=True, timeout=600)
    if not done.stdout:
        sys.exit(f"truetail ab: exit code {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def findings(result):
    return {f"p{quantile['q'] * 100:g}": quantile["finding"] for quantile in result["quantiles"]}


def allowed(times):
    """The most comparisons of the same build that may be called different: more are rarer than 2 % (binomial, 5 % each)."""
    chance = [comb(times, n) * 0.05**n * 0.95 ** (times - n) for n in range(times + 1)]
    return next(n for n in range(times + 1) if sum(chance[n + 1 :]) < 0.02)


def main():
    if not shutil.which("go"):
        sys.exit("Go is not installed")
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    failed = 0
    with tempfile.TemporaryDirectory(prefix="truetail-ab-") as folder:
        binary = Path(folder) / "map"
        subprocess.run(["go", "build", "-o", binary, HERE / "map.go"], check=True)
        with service(binary) as plain, service(binary, "-lock") as locked, service(binary) as again:
            code, result = ab(folder, plain, locked, "--fail-if", "p90 worse than 5%")
            found = code == 3 and result["gates"][0]["state"] == "fails"
            failed += not found
            print(f"  {'ok  ' if found else 'FAIL'} the lock is found: {result['gates'][0]['message']}", flush=True)
            different = 0
            for _ in range(times):
                _, result = ab(folder, plain, again)
                shown = findings(result)
                same = result["comparable"] and shown.get("p99") == "no_difference_shown"
                different += not same
                print(f"       the same build twice: {shown} {result['reasons']}", flush=True)
            holds = different <= allowed(times)
            failed += not holds
            print(f"  {'ok  ' if holds else 'FAIL'} the same build twice: no difference shown at p99 in {times - different} of {times}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
