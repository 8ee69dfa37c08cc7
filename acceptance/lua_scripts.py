"""Scripts of wrk and wrk2 under wrk2 and under truetail: a server compares what it sees.

    python3 acceptance/lua_scripts.py --truetail target/release/truetail --wrk2 PATH --scripts DIR [--scripts DIR]

Needs truetail with the feature `script`, wrk2, and a folder with scripts, such as `scripts` of wrk2's sources. Each
script runs under both with 200 requests/s for 4 s, 2 threads and 4 connections. The server answers 200 with
`X-Token: t`. A script passes if both sent the same kinds of requests: method, path, header lines and body, with each
number in a path or header replaced by N. The share of each kind may differ by five standard deviations of the binomial
distribution. Scripts with `delay()` must be refused by truetail, with the reason.
"""

import argparse
import asyncio
import collections
import pathlib
import re
import subprocess
import sys
import threading

RATE = 200
SECONDS = 4
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Token: t\r\n\r\nok"


class Server:
    """A server on a free port that counts the kinds of requests it gets."""

    def __init__(self):
        self.kinds = collections.Counter()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def serve():
            self.server = await asyncio.start_server(self.connection, "127.0.0.1", 0)
            self.port = self.server.sockets[0].getsockname()[1]
            ready.set()

        def run():
            asyncio.set_event_loop(self.loop)
            self.loop.run_until_complete(serve())
            self.loop.run_forever()

        threading.Thread(target=run, daemon=True).start()
        ready.wait()

    async def connection(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
                body = (await reader.readexactly(length)).decode("latin-1") if length else ""
                if not any(line.lower().startswith("truetail-preflight") for line in lines):
                    self.kinds[kind(lines, body)] += 1
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def take(self):
        """Returns the kinds since the last call."""
        kinds, self.kinds = self.kinds, collections.Counter()
        return kinds


def kind(lines, body):
    """Returns the kind of a request: everything that it says, with N in place of each number."""
    fields = sorted(line for line in lines[1:] if line and not line.lower().startswith("host:"))
    return re.sub(r"\d+", "N", " | ".join([re.sub(r"HTTP/1.1$", "", lines[0]), *fields, body]))


def difference(a, b):
    """Returns how the kinds of two tools differ, or None."""
    total_a, total_b = sum(a.values()), sum(b.values())
    if not total_a or not total_b:
        return f"{total_a} and {total_b} requests"
    for one in sorted(set(a) | set(b)):
        share_a, share_b = a[one] / total_a, b[one] / total_b
        pooled = (a[one] + b[one]) / (total_a + total_b)
        limit = 5 * (pooled * (1 - pooled) * (1 / total_a + 1 / total_b)) ** 0.5
        # Kinds at the beginning or end of a run, such as a login of each thread, are a few.
        if abs(share_a - share_b) > max(limit, 0.01) or (a[one] == 0) != (b[one] == 0):
            return f"{share_a:.1%} and {share_b:.1%} of: {one}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truetail", required=True)
    parser.add_argument("--wrk2", required=True)
    parser.add_argument("--scripts", action="append", required=True, type=pathlib.Path)
    args = parser.parse_args()
    server = Server()
    url = f"http://127.0.0.1:{server.port}/"
    failed = 0
    for script in sorted(path for folder in args.scripts for path in folder.glob("*.lua")):
        ours = subprocess.run(
            [args.truetail, "run", url, "-r", str(RATE), "-d", f"{SECONDS}s", "--threads", "2", "-c", "4", "--no-save", "--quiet", "--script", script],
            capture_output=True, text=True, timeout=60)
        seen_by_us = server.take()
        if re.search(r"\bdelay\b", script.read_text()):
            good = ours.returncode != 0 and "delay()" in ours.stderr
            print(f"{'pass' if good else 'FAIL'}  {script}  refused: {ours.stderr.strip()[:100]}")
        else:
            theirs = subprocess.run(
                [args.wrk2, "-t2", "-c4", f"-d{SECONDS}s", f"-R{RATE}", "-s", script, url],
                capture_output=True, text=True, timeout=60)
            seen_by_them = server.take()
            problem = difference(seen_by_them, seen_by_us)
            if ours.returncode not in (0, 3, 4):
                problem = f"exit code {ours.returncode}: {ours.stderr.strip()[:200]}"
            good = problem is None
            counts = f"{sum(seen_by_them.values())} and {sum(seen_by_us.values())} requests of {len(seen_by_us)} kinds"
            print(f"{'pass' if good else 'FAIL'}  {script}  {counts}{'' if good else '; wrk2 and truetail: ' + problem}")
            if not good and theirs.returncode != 0:
                print(theirs.stderr.strip()[:200])
        failed += not good
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
