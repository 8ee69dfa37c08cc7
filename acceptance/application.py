#!/usr/bin/env python3
"""A real application with logins, CSRF tokens and sessions in SQLite: does its Hurl test run unchanged, and do both count the same?

    cargo build --release -p truetail && python3 acceptance/application.py [--rate 200] [--duration 60s] [--hurl PROGRAM]

tests/apps/shop is a small shop in Node.js, with Express. Its shop.hurl logs in, lists, orders and logs out: once under
`hurl --test`, where there is one; then under `truetail run --flow`, 5 sessions a second for 2 s and --rate for --duration, each session
with a row of users.csv. The shop's own log and database must have what the books of each run have: requests by route and status, orders,
orders by user, and sessions, each with an order of its own and gone after its logout.

Needs npm, which brings Express and a Node.js of its own into a temporary folder. The exit code is 0 if all holds. Traffic stays on
loopback.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHOP = HERE.parent / "tests/apps/shop"
FLOW = SHOP / "shop.hurl"
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
# What each step asks for, and what it is answered.
ASKED = {
    "form": "GET /login 200",
    "login": "POST /login 302",
    "items": "GET /items 200",
    "order": "POST /orders 201",
    "logout": "POST /logout 302",
    "gone": "GET /items 302",
}


@contextmanager
def shop(home):
    """A fresh shop: its origin, its folder, and what ends it and gives its books."""
    with tempfile.TemporaryDirectory(prefix="truetail-shop-") as folder:
        command = [home / "node_modules/.bin/node", home / "serve.mjs", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()

        def end():
            process.terminate()
            process.wait()
            read = [sys.executable, SHOP / "books.py", folder]
            return json.loads(subprocess.run(read, check=True, capture_output=True).stdout)

        try:
            yield line.strip().partition("=")[2], Path(folder), end
        finally:
            process.kill()
            process.wait()


def by_hurl(program, home):
    """What is wrong with the flow under Hurl."""
    with shop(home) as (origin, folder, end):
        user, password = (folder / "users.csv").read_text().splitlines()[1].split(",")
        variables = {"host": origin, "user": user, "password": password}
        given = [word for name, value in variables.items() for word in ("--variable", f"{name}={value}")]
        done = subprocess.run([program, "--test", *given, FLOW], capture_output=True, text=True)
        books = end()
    print(f"hurl --test: exit code {done.returncode}")
    if done.returncode != 0:
        return [f"hurl: {done.stderr}"]
    return differences(books, 1, {user: 1})


def by_truetail(home, rate, duration):
    """What is wrong with the flow under load."""
    with shop(home) as (origin, folder, end):
        rows = folder / "users.csv"
        command = [BINARY, "run", "--flow", FLOW, "--data-from", rows, "--variable", f"host={origin}", "-r", rate, "-d", duration]
        done = subprocess.run([*command, "--no-preflight", "--no-save", "--json", "--quiet"], capture_output=True, text=True)
        if not done.stdout:
            return [f"truetail run failed: {done.stderr}"]
        users = [line.partition(",")[0] for line in rows.read_text().splitlines()[1:]]
        books = end()
    return compared(json.loads(done.stdout), books, users)


def compared(run, books, users):
    sessions = run["sessions"]
    planned = sessions["tally"]["planned"]
    show(run, books)
    failed = []
    if sessions["tally"]["completed"] != planned:
        failed.append(f"not every session was completed: {sessions['tally']}, {run['notes']}")
    for step in sessions["steps"]:
        seen = books["requests"].get(ASKED[step["name"]], 0)
        if step["reached"] != seen:
            failed.append(f"the step {step['name']} was reached {step['reached']} times, and the log has {seen}")
    statuses = Counter()
    for line, count in books["requests"].items():
        statuses[line.rpartition(" ")[2]] += count
    if run["statuses"] != statuses:
        failed.append(f"statuses: {run['statuses']} and not {dict(statuses)}")
    by_user = Counter(users[number % len(users)] for number in range(planned))
    return failed + differences(books, planned, by_user)


def differences(books, sessions, by_user):
    """How the shop's books differ from those of so many sessions that came to their end."""
    expected = {
        "requests": {line: sessions for line in sorted(ASKED.values())},
        "orders": sessions,
        "sessions_that_ordered": sessions,
        "sessions_left": 0,
        "orders_by_user": dict(by_user),
    }
    return [f"{key}: {books[key]} and not {value}" for key, value in expected.items() if books[key] != value]


def show(run, books):
    sessions = run["sessions"]
    times = {f"p{one['q'] * 100:g}" if one["q"] < 1 else "max": one["value_ns"] for one in sessions["session_time"]["quantiles"]}
    shown = ", ".join(f"{name} {value / 1e6:.1f} ms" for name, value in times.items() if value is not None)
    print(f"truetail: {sessions['tally']}")
    print(f"  steps reached: { {step['name']: step['reached'] for step in sessions['steps']} }")
    print(f"  session time: {shown}; the run itself is {run['verdict']['state']}")
    print(f"  the shop: {books['requests']}, {books['orders']} orders in {books['sessions_that_ordered']} sessions, "
          f"{books['sessions_left']} sessions left")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rate", default="200")
    options.add_argument("--duration", default="60s")
    options.add_argument("--hurl", default=shutil.which("hurl"), metavar="PROGRAM")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="truetail-app-") as folder:
        home = Path(folder) / "shop"
        shutil.copytree(SHOP, home, ignore=shutil.ignore_patterns("node_modules"))
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", home], check=True)
        failed = []
        if asked.hurl:
            failed += by_hurl(asked.hurl, home)
        else:
            print("SKIPPED: hurl --test: there is no hurl; tools/install.sh hurl installs it")
        failed += by_truetail(home, "5", "2s")
        failed += by_truetail(home, asked.rate, asked.duration)
    print("\n".join(f"FAIL {why[:1000]}" for why in failed) or "ok: the shop counts what the books count")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
