#!/usr/bin/env python3
"""How fast `truetail audit` reads, and how much memory it takes.

    bench/audit.py [--bin target/release/truetail] [--gb 0.2] [--only jtl|k6] [--rounds 3]

Writes a JTL of JMeter and a CSV of k6 of that many GB (10^9 bytes) into a temporary folder, audits each a few times, and prints
MB (10^6 bytes) per second of processor time, which other programs disturb less than the clock, and the peak memory. Both files
are those of 10 users who wait for their answers, through one stall in the middle too. The figures of docs/audit.md are of `--gb 5`.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

USERS = 10
START_MS = 1_795_157_924_000
SERVICE_MS = 10
# Of the run, so that enough requests are missing for a finding.
STALL_SHARE = 0.005
JTL_HEAD = ("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
            "grpThreads,allThreads,URL,Latency,IdleTime,Connect\n")
K6_HEAD = ("metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,"
           "status,subproto,tls_version,url,extra_tags,metadata\n")
K6_TAGS = ("true,,GET,http://127.0.0.1:18705/api,HTTP/1.1,default,,200,,,http://127.0.0.1:18705/api,,\n")
K6_PARTS = ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")


def requests(turns):
    """(milliseconds since the start, milliseconds it took, number of the user) of each request, without end. Of so many turns, in
    each of which every user sends one, the middle one stalls."""
    at = 0
    for turn in itertools.count():
        took = int(turns * SERVICE_MS * STALL_SHARE) if turn == turns // 2 else SERVICE_MS + turn % 3
        for user in range(USERS):
            yield at, took, user
        at += took


def jtl(at, took, user):
    return (f"{START_MS + at},{took},api,200,OK,users 1-{user + 1},text,true,,119,121,{USERS},{USERS},"
            f"http://127.0.0.1:18705/api,{took},0,0\n")


def k6(at, took, _user):
    """The rows of one request. k6 stamps them when it ends, in seconds unless told otherwise."""
    second = (START_MS + at + took) // 1000
    rows = [f"http_reqs,{second},1.000000,,,,{K6_TAGS}", f"http_req_duration,{second},{took}.000000,,,,{K6_TAGS}"]
    rows += [f"http_req_{part},{second},0.100000,,,,{K6_TAGS}" for part in K6_PARTS]
    rows.append(f"http_req_failed,{second},0.000000,,,,{K6_TAGS}")
    return "".join(rows)


FORMATS = {"jtl": ("jmeter-csv", JTL_HEAD, jtl), "k6": ("k6-csv", K6_HEAD, k6)}


def write(path, size, head, rows):
    """Writes a file of about `size` bytes and returns how many it has."""
    source = requests(size // len(rows(0, SERVICE_MS, 0)) // USERS)
    with open(path, "w", encoding="ascii") as file:
        file.write(head)
        while file.tell() < size:
            file.write("".join(rows(*request) for request in itertools.islice(source, 10_000)))
    return path.stat().st_size


def audited(binary, path):
    """(processor seconds, peak bytes, the audit) of one audit."""
    process = subprocess.Popen([binary, "audit", str(path), "--json"], stdout=subprocess.PIPE)
    answer = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3, 4):
        sys.exit(f"{binary} audit {path} ended with {process.returncode}")
    # Linux counts kibibytes, macOS bytes.
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return usage.ru_utime + usage.ru_stime, peak, json.loads(answer)


def measure(binary, name, size, rounds, folder):
    format_name, head, rows = FORMATS[name]
    path = Path(folder) / name
    size = write(path, size, head, rows)
    runs = [audited(binary, path) for _ in range(rounds)]
    path.unlink()
    found = runs[0][2]
    if found["format"] != format_name:
        sys.exit(f"the {name} file was read as {found['format']}")
    speeds = sorted(size / 1e6 / seconds for seconds, _, _ in runs)
    peak = max(peak for _, peak, _ in runs) / 1e6
    print(f"{format_name:<11} {size / 1e6:>8.0f} {found['requests']:>11} {speeds[0]:>8.0f} {speeds[-1]:>8.0f} {peak:>8.1f}  "
          f"{found['finding']}", flush=True)


def main():
    root = Path(__file__).resolve().parent.parent
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--bin", type=Path, default=root / "target/release/truetail", help="a release build")
    options.add_argument("--gb", type=float, default=0.2, help="the size of each file, 10^9 bytes (0.2)")
    options.add_argument("--only", choices=FORMATS, help="one of the two files")
    options.add_argument("--rounds", type=int, default=3, help="so many audits of each file (3)")
    args = options.parse_args()
    print("format            MB    requests  MB/s min  MB/s max  peak MB  finding")
    with tempfile.TemporaryDirectory(prefix="truetail-bench-") as folder:
        for name in [args.only] if args.only else FORMATS:
            measure(args.bin.resolve(), name, int(args.gb * 1e9), max(args.rounds, 1), folder)


if __name__ == "__main__":
    main()
