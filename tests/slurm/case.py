#!/usr/bin/env python3
"""examples/slurm, as its comment says it is used: case.py WORK. Called by cluster.sh; the program is $TRUETAIL."""

import datetime
import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from stripes import TRUETAIL, Server, balanced, each_once, flat, planned_per_second, sh  # noqa: E402

WORK = Path(sys.argv[1])
SHARDS = 4


def main():
    programs = WORK / "bin"
    programs.mkdir()
    (programs / "truetail").symlink_to(TRUETAIL)
    server = Server(WORK, 8080)
    start = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=20)
    job = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "OUT": str(WORK / "runs"), "START": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    (WORK / "runs").mkdir()
    sh("sbatch", ROOT / "examples/slurm/stripes.sbatch", server.url, "-r", 200, "-d", "5s", env=job, cwd=WORK)
    # `sbatch --wait` looks ever less often.
    while sh("squeue", "--noheader").stdout.strip():
        time.sleep(0.2)
    out = WORK / "runs/merged"
    folders = sorted((WORK / "runs").glob("stripe-*"))
    assert len(folders) == SHARDS, [file.read_text() for file in WORK.glob("slurm-*.out")]
    sh(TRUETAIL, "merge", *folders, "--out", out, check=False)
    run = json.loads((out / "run.json").read_text())
    tally = balanced(run)
    assert (tally["planned"], tally["never_issued"]) == (1000, 0), run["shards"]
    assert [shard["planned"] for shard in run["shards"]["by_stripe"]] == [1000 // SHARDS] * SHARDS, run["shards"]
    each_once(out, 1000)
    assert planned_per_second(out)[:5] == [200] * 5
    arrivals = server.arrivals()
    assert len(arrivals) == tally["issued"], f"{len(arrivals)} requests came, and {tally['issued']} were sent"
    print(f"ok  an array of {SHARDS} jobs: {len(arrivals)} of 1000 arrivals came; {flat(arrivals, 200, run)}")


main()
