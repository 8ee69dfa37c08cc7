#!/usr/bin/env python3
"""Real services with OpenTelemetry's SDKs, behind nginx, with PostgreSQL: does the ledger name the part that stands still?

    cargo build --release -p truetail && python3 acceptance/spans.py [--runs 20] [node] [python] [go]

The services in acceptance/services have the SDK and its instrumentation of HTTP and PostgreSQL, unchanged. nginx reports spans by Lua.
Each run lasts 4.8 s with 100 requests a second, and one part is slow:

- proxy: nginx lets 90 requests a second pass (limit_req) and delays the others;
- handler: it sleeps for 150 ms in every 20th request;
- database: another session locks the table for 0.8 s;
- none: nothing is slow. Nothing has to be named here.

In each run the part with most time around p99 must be the slow one, and in every row of the ledger the parts must add up, within 1 %,
to the mean response time of the same answers in samples.csv. Needs nginx with Lua (Debian: nginx-core libnginx-mod-http-lua), PostgreSQL, Node.js with npm, Python with venv, Go. The
packages of the services are kept in truetail's folder of tools. The exit code is 0 if all holds. Traffic stays on loopback. On a busy
machine, `chrt -r 5` before `python3` (as root) lets services and load go first.
"""

import argparse
import csv
import getpass
import json
import math
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import ExitStack, contextmanager
from pathlib import Path

from services import BINARY, NAMES, SOURCES, free_port, machine, need, service, started, wait_for

PARTS = ["proxy", "handler", "database"]
WITHIN = 0.01
MODULES = "/usr/lib/nginx/modules"
LOCK = "BEGIN; LOCK TABLE items IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(0.8); COMMIT"


def postgres_program(name):
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((home / name for home in homes if (home / name).exists()), None) or need(name, "postgresql")


@contextmanager
def database(folder):
    """A PostgreSQL with ten items: its address. It does not run as root, so root lends it to the user postgres."""
    data, port = folder / "data", free_port()
    as_user = {}
    if os.geteuid() == 0:
        as_user = {"user": "postgres", "group": pwd.getpwnam("postgres").pw_gid, "extra_groups": []}
        shutil.chown(folder, "postgres")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([postgres_program("initdb"), "-D", data, "-U", "truetail", "-A", "trust"], check=True, cwd=folder, **as_user, **quiet)
    words = [postgres_program("postgres"), "-D", data, "-p", port, "-h", "127.0.0.1", "-k", folder, "-N", 250, "-F"]
    with started(words, cwd=folder, **as_user, **quiet) as process:
        wait_for(port, process, "PostgreSQL")
        address = f"postgresql://truetail@127.0.0.1:{port}/postgres"
        made = "CREATE TABLE items AS SELECT id, 'item ' || id AS name FROM generate_series(1, 10) id"
        psql = [need("psql", "postgresql-client"), address, "-q", "-c"]
        while subprocess.run([*psql, made], **quiet).returncode:
            pass
        yield address


@contextmanager
def nginx(folder, behind, otlp):
    folder.mkdir()
    port = free_port()
    words = {"USER": getpass.getuser(), "FOLDER": folder, "MODULES": MODULES, "HERE": SOURCES, "OTLP": otlp, "PORT": port,
             "SERVICE": behind.rpartition(":")[2]}
    text = (SOURCES / "nginx.conf").read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    (folder / "nginx.conf").write_text(text)
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or need("nginx", "nginx-core libnginx-mod-http-lua")
    # Killed alone, nginx would leave its worker behind.
    with started([program, "-e", folder / "nginx.log", "-c", folder / "nginx.conf"]) as process:
        wait_for(port, process, "nginx")
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def one_run(url, address, otlp, part, out):
    command = [BINARY, "run", f"{url}/items", "-r", "100", "-d", "4.8s", "--trace", "--otlp-receive", f"127.0.0.1:{otlp}", "--otlp-grace", "2s",
               "-H", f"x-stall: {part}", "--json", "--quiet", "--out", str(out), "--force"]
    if part == "database":
        command += ["--event", f"psql {address} -q -c '{LOCK}'", "--event-at", "2s"]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else sys.exit(f"truetail run failed: {done.stderr}")


def part_of(name, row):
    """The part that a row of the ledger is about: `nginx/proxy`, `python/GET /items`, `python/SELECT`."""
    where, _, span = row.partition("/")
    if where == "nginx":
        return "proxy"
    if where != name:
        return row
    return "handler" if span.startswith("GET") else "database"


def largest(name, row):
    """The part with most time in a row of the ledger, and its share."""
    parts = Counter()
    for one in row["parts"]:
        parts[part_of(name, one["name"])] += one["mean_ns"]
    part, most = parts.most_common(1)[0]
    return part, most / row["response_time_ns"]


def response_time_around(q, out):
    """The mean response time of the answers within half a per cent of the rank, as samples.csv has them."""
    with open(out / "samples.csv", encoding="utf-8") as file:
        answers = [row for row in csv.DictReader(file) if row["outcome"] == "response"]
    times = sorted(int(row["end_ns"]) - int(row["intended_start_ns"]) for row in answers)
    around = times[math.ceil((q - 0.005) * len(times)) - 1:int((q + 0.005) * len(times))]
    return sum(around) / len(around)


def worst_sum(run, out):
    """How far the parts are from the response time in samples.csv. A negative part, as of spans that count twice, adds to it."""
    def error(row):
        truth = response_time_around(row["q"], out)
        means = [one["mean_ns"] for one in row["parts"]]
        return max(abs(sum(means) / truth - 1), -min(means) / truth)
    return max(error(row) for row in run["ledger"])


def check(name, runs, folder):
    right, wrong, sums, shares = Counter(), [], defaultdict(float), {}
    otlp = free_port()
    with ExitStack() as stack:
        (folder / "postgres").mkdir()
        address = stack.enter_context(database(folder / "postgres"))
        behind, _ = stack.enter_context(service(name, address, otlp))
        url = stack.enter_context(nginx(folder / "nginx", behind, otlp))
        planned = [PARTS[number % len(PARTS)] for number in range(runs)]
        for number, part in enumerate([*planned, "none"], 1):
            run = one_run(url, address, otlp, part, folder / "run")
            row = next(row for row in run["ledger"] if row["q"] == 0.99)
            named, share = largest(name, row)
            sums[part] = max(sums[part], worst_sum(run, folder / "run"))
            shares[part] = min(shares.get(part, 1), share)
            right[part] += named == part
            print(f"  {name} {number}: {part} was slow; {named} has {share:.0%} of {row['response_time_ns'] / 1e6:.1f} ms at p99, "
                  f"{row['reported']} of {row['requests']} answers with spans", flush=True)
            if sums[part] > WITHIN or (named != part and part != "none") or run["tally"]["responses"] != run["tally"]["planned"]:
                wrong.append(f"{name} {number} ({part}): {run['tally']} {json.dumps(row)} {run['slowest'][:3]} {run['verdict']}")
    lines = [f"| {name} | {part} | {right[part]} of {planned.count(part)} | {shares[part]:.0%} | {sums[part]:.4%} |" for part in PARTS if part in sums]
    return lines, wrong


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("services", nargs="*", metavar="SERVICE", help=" ".join(NAMES))
    asked = options.parse_args()
    lines, wrong = [], []
    for name in asked.services or NAMES:
        with tempfile.TemporaryDirectory(prefix="truetail-spans-") as folder:
            os.chmod(folder, 0o755)
            found = check(name, asked.runs, Path(folder))
        lines += found[0]
        wrong += found[1]
    print("\n| service | slow part | runs in which it was named | its least share at p99 | largest error of the sum |\n|---|---|---|---|---|")
    print("\n".join(lines))
    print(f"\n{machine()}")
    print("\n".join(f"FAIL {why[:2000]}" for why in wrong) or "ok: the slow part was named in every run")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
