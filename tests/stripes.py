"""What a load that several machines share must have done, by its own books and by the log of the server."""

import csv
import os
import signal
import subprocess
from collections import Counter

TRUETAIL = os.environ["TRUETAIL"]
# The address of this machine that its nodes reach.
BRIDGE = "198.51.100.1"


def sh(*words, check=True, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Server:
    """`truetail serve`, healthy, at the bridge of the nodes, with a truth log of its own."""

    def __init__(self, work, port):
        self.truth = work / f"truth-{port}.csv"
        self.url = f"http://{BRIDGE}:{port}/api"
        self.process = subprocess.Popen(
            [TRUETAIL, "serve", "--scenario", "01", "--listen", f"{BRIDGE}:{port}", "--truth", self.truth],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )
        self.process.stdout.readline()

    def arrivals(self):
        """When requests came, in nanoseconds since the first; without the one of each pod before the load."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        with open(self.truth) as file:
            return [int(row["arrived_ns"]) for row in csv.DictReader(file)]


def balanced(run):
    tally = run["tally"]
    ends = ("responses", "connect_failed", "reset", "malformed", "timed_out", "in_flight_at_end")
    assert tally["planned"] == tally["issued"] + tally["never_issued"], tally
    assert tally["issued"] == sum(tally[name] for name in ends), tally
    return tally


def each_once(folder, planned):
    """Every arrival of the load is in the merged run once."""
    with open(folder / "samples.csv") as file:
        indexes = sorted(int(row["index"]) for row in csv.DictReader(file))
    assert indexes == list(range(planned)), f"{len(indexes)} of {planned} arrivals"


def flat(arrivals, rate, run):
    """As many came in each second as were planned, but for those that may have crossed its ends: none came later than it was answered."""
    longest = run["response_time"]["max_ns"] / 1e9
    by_second = Counter(int(at // 1e9) for at in arrivals)
    whole = [by_second[second] for second in range(1, max(by_second))]
    assert all(abs(count - rate) <= 2 * rate * longest + 1 for count in whole), (whole, longest)
    return f"came per second: {whole}; slowest answer {longest * 1e3:.1f} ms"


def planned_per_second(folder):
    with open(folder / "timeline.csv") as file:
        return [int(row["planned"]) for row in csv.DictReader(file)]
