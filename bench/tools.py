"""The load tools of a session: how each is called, and what its output says."""

import json
import re

from machine import TARGET, program


class Truetail:
    def __init__(self, name, *flags, binary=None):
        self.name, self.flags, self.binary = name, flags, binary or TARGET / "truetail"

    def available(self):
        return True

    def _run(self, url, *flags):
        return [self.binary, "run", url, "--threads", 1, "--json", "--quiet", "--no-save", "--no-preflight", *flags, *self.flags]

    def closed(self, url, connections, seconds):
        return self._run(url, "--model", "closed", "--users", connections, "-d", f"{seconds}s")

    def open(self, url, rate, connections, seconds):
        return self._run(url, "-r", rate, "-d", f"{seconds}s")

    def requests(self, result):
        # 4 is INVALID: a closed loop at full speed has no valid latency, but its rate is what is measured here.
        if result["exit"] not in (0, 4):
            return None
        return json.loads(result["out"])["tally"]["responses"]

    def per_second(self, result):
        return json.loads(result["out"])["throughput_per_second"]

    def median_us(self, result):
        quantiles = json.loads(result["out"])["response_time"]["quantiles"]
        return next(row["value_ns"] for row in quantiles if row["q"] == 0.5) / 1e3


class Wrk:
    """wrk, or wrk2, which takes a rate."""

    def __init__(self, name):
        self.name, self.path = name, program(name)

    def available(self):
        return self.path

    def closed(self, url, connections, seconds):
        unlimited = ["-R", 1_000_000] if self.name == "wrk2" else []
        return [self.path, "-t1", f"-c{connections}", f"-d{seconds}s", *unlimited, url]

    def open(self, url, rate, connections, seconds):
        return None if self.name == "wrk" else [self.path, "-t1", f"-c{connections}", f"-d{seconds}s", "-R", rate, "-L", url]

    def requests(self, result):
        found = re.search(r"(\d+) requests in", result["out"])
        return int(found.group(1)) if found and result["exit"] == 0 else None

    def per_second(self, result):
        return float(re.search(r"Requests/sec: +([\d.]+)", result["out"]).group(1))

    def median_us(self, result):
        value, unit = re.search(r"50\.000%\s+([\d.]+)(us|ms|s)", result["out"]).groups()
        return float(value) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


class H2load:
    """h2load with a number of streams on one connection."""

    name = "h2load"

    def __init__(self):
        self.path = program("h2load")

    def available(self):
        return self.path

    def closed(self, url, streams, seconds):
        return [self.path, "-t1", "-c1", f"-m{streams}", f"-D{seconds}", url]

    def open(self, url, rate, streams, seconds):
        return [self.path, "-t1", "-c1", f"-m{streams}", f"-D{seconds}", f"--rps={rate}", url]

    def requests(self, result):
        found = re.search(r"requests: .* (\d+) succeeded", result["out"])
        return int(found.group(1)) if found and result["exit"] == 0 else None

    def per_second(self, result):
        return float(re.search(r"finished in .*, ([\d.]+) req/s", result["out"]).group(1))


class Oha:
    name = "oha"

    def __init__(self):
        self.path = program("oha")

    def available(self):
        return self.path

    def closed(self, url, connections, seconds):
        return [self.path, "--no-tui", "-z", f"{seconds}s", "-c", connections, "--output-format", "json", url]

    def open(self, url, rate, connections, seconds):
        return [self.path, "--no-tui", "-z", f"{seconds}s", "-c", connections, "-q", rate, "--latency-correction", "--output-format", "json", url]

    def requests(self, result):
        if result["exit"] != 0:
            return None
        return sum(json.loads(result["out"])["statusCodeDistribution"].values())

    def per_second(self, result):
        return json.loads(result["out"])["summary"]["requestsPerSec"]

    def median_us(self, result):
        return json.loads(result["out"])["latencyPercentiles"]["p50"] * 1e6


class Floor:
    """The least that a client can do: no parser, no tally, no schedule but k / rate. Not a peer but the bottom of the scale."""

    def __init__(self, name, between=0):
        """`between` two requests: how many of the last microseconds are spun, or "batches"."""
        self.name, self.between = name, between

    def available(self):
        return True

    def closed(self, url, connections, seconds):
        return [TARGET / "bench-floor", url, "closed", seconds]

    def open(self, url, rate, connections, seconds):
        return [TARGET / "bench-floor", url, rate, seconds, self.between]

    def requests(self, result):
        return json.loads(result["out"])["responses"] if result["exit"] == 0 else None

    def per_second(self, result):
        return json.loads(result["out"])["per_second"]

    def median_us(self, result):
        return None
