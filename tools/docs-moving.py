#!/usr/bin/env python3
"""Tries the pairs of commands in docs/moving: tools/docs-moving.py TRUETAIL [TOOL …]

A pair is a block of two lines: the command of another load tool, and truetail's. Both run one after the other against a fresh
`truetail serve`, for 3 s or the number of requests that they give, and the table says how many requests the server saw. Where a
pair sets headers or a body, it runs against a server of this script, which compares what arrived. A tool that is not here is
left out and keeps its rows. The table is written to docs/moving/README.md.
"""

import http.server
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOVING = ROOT / "docs" / "moving"
MARKS = ("<!-- figures: make docs-moving -->", "<!-- end of figures -->")
HEADING = ["| tool | command | the server saw | truetail | the server saw |", "|---|---|---|---|---|"]
PAIR = re.compile(r"(?:^```js\n(?P<script>(?:(?!^```).*\n)+)^```\n+)?^```sh\n(?P<theirs>.+)\ntruetail (?P<ours>.+)\n```$", re.MULTILINE)
SECONDS = 3
ADDRESS = "127.0.0.1:8080"
# The headers that a user sets.
COMPARED = ("content-type", "authorization", "x-team")


def main():
    truetail, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    table = MOVING / "README.md"
    before, rest = table.read_text().split(MARKS[0])
    old, after = rest.split(MARKS[1])
    rows = []
    for page in sorted(MOVING.glob("*.md")):
        tool = page.stem
        pairs = [match.groupdict() for match in PAIR.finditer(page.read_text())]
        if not pairs:
            continue
        if wanted and tool not in wanted or not program(tool):
            print(f"{tool}: not tried", file=sys.stderr)
            rows += [row for row in old.splitlines() if row.startswith(f"| [{tool}]")]
            continue
        rows += [row_of(tool, pair, truetail) for pair in pairs]
    lines = [MARKS[0], "", *HEADING, *rows, "", MARKS[1]]
    table.write_text(before + "\n".join(lines) + after)


def program(tool):
    return shutil.which(tool, path=search_path())


def search_path():
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.join(os.environ.get("TRUETAIL_TOOLS", f"{cache}/truetail/tools"), "bin") + os.pathsep + os.environ["PATH"]


def row_of(tool, pair, truetail):
    compared = any(mark in pair["ours"] for mark in (" -H ", " --data", " --user "))
    theirs = (compare if compared else count)(pair["theirs"], pair["script"], truetail)
    ours = (compare if compared else count)(f"{shlex.quote(truetail)} {pair['ours']} --no-save --quiet --no-preflight", None, truetail)
    if compared:
        if theirs[1] != ours[1]:
            sys.exit(f"{tool}: the requests differ: {theirs[1]} and {ours[1]} of {pair}")
        theirs, ours = f"{theirs[0]:,}, equal", f"{ours[0]:,}, equal"
    else:
        theirs, ours = f"{theirs:,}", f"{ours:,}"
    print(f"{tool}: {theirs} | {ours}", file=sys.stderr)
    return f"| [{tool}]({tool}.md) | `{options(pair['theirs'])}` | {theirs} | `{options(pair['ours'])}` | {ours} |"


def options(command):
    """What of a command says how much it sends: without the URL, and without the rest of a pipeline."""
    attack = [part for part in shorter(command).split(" | ") if "vegeta attack" in part] or [shorter(command)]
    return " ".join(word for word in attack[0].split() if "http://" not in word and word != "run")


def shorter(text):
    text = re.sub(r"(?<!\d)30s\b", f"{SECONDS}s", text)
    return re.sub(r"(?<=-t )30\b", str(SECONDS), text)


def count(command, script, truetail):
    """How many requests the server of scenario 01 saw."""
    with tempfile.TemporaryDirectory() as folder:
        truth = pathlib.Path(folder, "truth.csv")
        serve = [truetail, "serve", "--scenario", "01", "--listen", "127.0.0.1:0", "--truth", truth]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            address = server.stdout.readline().split("http://")[1].strip()
            execute(command, script, folder, address)
            server.terminate()
        return len(truth.read_text().splitlines()) - 1


def compare(command, script, truetail):
    """How many requests arrived, and the different ones among them."""
    seen = []

    class Recorder(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: self.headers[name] for name in COMPARED if self.headers[name]}
            seen.append((self.command, self.path, tuple(headers.items()), body))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            # ab speaks HTTP/1.0 and wants to be told.
            self.send_header("Connection", "keep-alive")
            self.end_headers()
            self.wfile.write(b"ok")

        do_GET = do_POST = do_PUT = do_HEAD = answer

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        execute(command, script, folder, f"127.0.0.1:{server.server_port}")
    server.shutdown()
    return len(seen), set(seen)


def execute(command, script, folder, address):
    pathlib.Path(folder, "item.json").write_text('{"n":1}')
    if script:
        pathlib.Path(folder, "load.js").write_text(shorter(script).replace(ADDRESS, address))
    subprocess.run(
        ["sh", "-c", shorter(command).replace(ADDRESS, address)],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
        env={**os.environ, "PATH": search_path()},
    )


main()
