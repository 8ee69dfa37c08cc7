"""What other load tools say of the flow of acceptance/flows.py: k6, Locust and Gatling, each with a script of the same flow.

Each function gives rows by name. A row is {"quantiles": {q: ms}, "sessions": number, "never_begun": number}: session times less the
planned think time. Where a tool counts no sessions that it did not begin, `never_begun` is None.
"""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
THINK_MS = 1500
QUANTILES = [0.5, 0.9, 0.99, 1.0]
# Virtual users: enough for all that wait, and enough while nothing stalls.
USERS = [200, 100]
# Users of Locust, how many it starts a second, and how many seconds apart: evenly, and all of a second together, as it does by itself.
LOCUST = {"Locust, 200 users": (200, 200, 0.02), "Locust, 100 users": (100, 100, 0.02), "Locust, 200 users, -r 50": (200, 50, 0)}
LOGBACK = '<configuration><root level="WARN"/></configuration>\n'


def k6(program, serving):
    return {f"k6, {users} virtual users": k6_row(program, serving, users) for users in USERS}


def k6_row(program, serving, users):
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary.json"
        script = ["run", "--quiet", "--no-usage-report", "--summary-export", summary, HERE / "flows.k6.js"]
        metrics = summary_of("k6", [program, *script, "-e", f"HOST={url}", "-e", f"USERS={users}"], summary)["metrics"]
    session = metrics["session_time"]
    names = {0.5: "med", 0.9: "p(90)", 0.99: "p(99)", 1.0: "max"}
    dropped = metrics.get("dropped_iterations", {}).get("count", 0)
    return {"quantiles": {q: session[name] for q, name in names.items()}, "sessions": metrics["iterations"]["count"],
            "never_begun": dropped}


def locust(program, serving):
    return {name: locust_row(program, serving, *how) for name, how in LOCUST.items()}


def locust_row(program, serving, users, a_second, apart):
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary.json"
        # With --stop-timeout the sessions under way at the end are finished, and counted.
        options = ["--headless", "--only-summary", "-u", users, "-r", a_second, "-t", "60s", "--stop-timeout", 10]
        command = [program, "-f", HERE / "flows.locust.py", *map(str, options)]
        given = {"HOST": url, "USERS": str(users), "APART": str(apart), "SUMMARY": str(summary)}
        said = summary_of("Locust", command, summary, os.environ | given)
    quantiles = dict(zip(QUANTILES, said["quantiles"]))
    return {"quantiles": quantiles, "sessions": said["sessions"], "never_begun": None}


def summary_of(name, command, summary, environment=None):
    """What the command writes to the file `summary`."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if not summary.exists():
        sys.exit(f"{name} failed: {done.stderr[-2000:]}")
    return json.loads(summary.read_text())


def gatling(installed, serving):
    """Of the folder that has Gatling's jars in `lib`."""
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        jars = f"{installed}/lib/*"
        subprocess.run(["javac", "-cp", jars, "-d", folder, HERE / "FlowsSimulation.java"], check=True)
        (Path(folder) / "logback.xml").write_text(LOGBACK)
        # As for the laboratory: Gatling needs the second option, and without the third it logs each request.
        java = ["java", "-Xmx1g", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-Dlogback.configurationFile=logback.xml"]
        simulation = ["io.gatling.app.Gatling", "-s", "FlowsSimulation", "-rf", "results", "-nr"]
        command = [*java, f"-Dhost={url}", "-cp", f"{folder}:{jars}", *simulation]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        logs = list(Path(folder).glob("results/*/simulation.log"))
        if not logs:
            sys.exit(f"Gatling failed: {(done.stdout + done.stderr)[-2000:]}")
        groups = GatlingLog(logs[0].read_bytes()).groups()
    times = {"duration": [end - start - THINK_MS for start, end, _ in groups], "cumulated time": [sum_ms for *_, sum_ms in groups]}
    return {f"Gatling, {name}": gatling_row(sorted(found)) for name, found in times.items()}


def gatling_row(times):
    quantiles = {q: float(times[math.ceil(q * len(times)) - 1]) for q in QUANTILES}
    return {"quantiles": quantiles, "sessions": len(times), "never_begun": None}


class GatlingLog:
    """Gatling's binary log, from 3.13 on, as crates/tools/src/gatling/binary.rs describes it. Times are milliseconds."""

    def __init__(self, log):
        self.log, self.at = log, 0

    def number(self, kind="i"):
        (value,) = struct.unpack_from(f">{kind}", self.log, self.at)
        self.at += struct.calcsize(kind)
        return value

    def skip_text(self):
        length = self.number()
        self.at += length + 1 if length else 0

    def skip_cached_text(self):
        if self.number() > 0:
            self.skip_text()

    def skip_names(self):
        for _ in range(self.number()):
            self.skip_cached_text()

    def skip_run(self):
        self.skip_text()
        self.skip_text()
        self.at += 8
        self.skip_text()
        for _ in range(self.number()):
            self.skip_text()
        for _ in range(self.number()):
            length = self.number()
            self.at += length

    def groups(self):
        """Start, end and cumulated response time of each group."""
        found = []
        while self.at < len(self.log):
            kind = self.number("b")
            if kind == 0:
                self.skip_run()
            elif kind == 1:
                self.skip_names()
                self.skip_cached_text()
                self.at += 9
                self.skip_cached_text()
            elif kind == 2:
                self.at += 9
            elif kind == 3:
                self.skip_names()
                found.append((self.number(), self.number(), self.number()))
                self.at += 1
            elif kind == 4:
                self.skip_cached_text()
                self.at += 4
            else:
                sys.exit(f"Gatling's log has a record of the unknown kind {kind}")
        return found
