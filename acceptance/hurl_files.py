#!/usr/bin/env python3
"""Hurl's own test files: does each do in truetail what it does in Hurl, or is it refused with its line?

    cargo build -p truetail && python3 acceptance/hurl_files.py CHECKOUT [--hurl PROGRAM] [--only TEXT] [--json FILE]

CHECKOUT is a checkout of Hurl's repository, of which integration/hurl is copied and its server started on ports 8000 to 8003, where its
files expect it. Each file runs once under `hurl` and once as one session of `truetail run --flow`, with the variables and certificates
that its script beside it gives, and no other options. Compared are the verdict, the line of a failure, every request that the server
got, and the value of every capture.

| result | what it means |
|---|---|
| same | the same verdict, requests and captures |
| refused | truetail names the line and the construct; or no program takes the file |
| different | all else: the exit code is 1, unless KNOWN says why |
| elsewhere | it asks another host than this machine, and is not run |

Needs Flask and what else Hurl's server imports, which it installs from PyPI into a temporary folder.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/debug/truetail"))
PACKAGES = ["Flask==3.0.3", "beautifulsoup4==4.12.3", "requests==2.32.3"]
# Options of Hurl that say nothing about requests, and what truetail calls them.
PASSED_ON = {"--cacert": "--ca", "--cert": "--cert", "--key": "--key"}
# Those that stay different, and why.
CERTIFICATE = "truetail's TLS refuses a certificate of X.509 version 1, and one that names its host only as CN"
KNOWN = {
    "tests_ok/predicates_number.hurl": "an integer of more than 64 bits is a float in truetail",
    "tests_ssl/cacert.hurl": CERTIFICATE,
    "tests_ssl/cacert_selfsigned.hurl": CERTIFICATE,
    "tests_ssl/client_authentication.hurl": CERTIFICATE,
}
TIMEOUT_S = 60


class Servers:
    """Hurl's servers; the one on port 8000 starts afresh for each run and logs what it is asked."""

    def __init__(self, python, folder):
        self.folder = folder
        self.log = folder / "asked.log"
        quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        ssl = [("8001", "cert.selfsigned.pem", "false"), ("8002", "cert.pem", "false"), ("8003", "cert.selfsigned.pem", "true")]
        commands = [[python, "tests_ssl/ssl_server.py", port, f"tests_ssl/certs/server/{cert}", both] for port, cert, both in ssl]
        self.processes = [subprocess.Popen(command, **quiet) for command in commands]
        quiet |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.main = subprocess.Popen([python, HERE / "hurl_files_server.py"], **quiet)
        self.processes.append(self.main)

    def start_afresh(self):
        print(self.log, file=self.main.stdin, flush=True)
        if self.main.stdout.readline() != "ready\n":
            sys.exit("Hurl's server does not start; is something else on port 8000?")

    def asked(self):
        # The server draws the number of a job at random.
        text = re.sub("[0-9a-f]{32}", "NUMBER", self.log.read_text())
        return [json.loads(line) for line in text.splitlines()]

    def stop(self):
        self.main.stdin.close()
        for process in self.processes:
            process.terminate()
            process.wait()


def options_of(file):
    """The options that the script of a file gives to Hurl, as (those for Hurl, those for truetail)."""
    script = file.with_suffix(".sh")
    text = script.read_text().replace("\\\n", " ") if script.exists() else ""
    exported = re.findall(r"^export HURL_(\w+)=(.*)$", text, re.M)
    hurl, ours = [], []
    for name, value in exported:
        hurl += ["--variable", f"{name}={value}"]
        ours += ["--variable", f"{name}={value}"]
    line = next((line for line in text.splitlines() if line.startswith("hurl ") and file.name in line), "")
    words = iter(shlex.split(line))
    for word in words:
        if word in ("--variable", "--secret"):
            value = next(words)
            hurl += [word, value]
            ours += ["--variable", value]
        elif word == "--variables-file":
            path = next(words)
            hurl += [word, path]
            lines = (file.parent.parent / path).read_text().splitlines()
            ours += [part for line in lines if "=" in line and line[0] != "#" for part in ("--variable", line)]
        elif word in PASSED_ON:
            path = next(words)
            hurl += [word, path]
            ours += [PASSED_ON[word], path]
        elif word == "--insecure":
            hurl.append(word)
            ours.append(word)
    return hurl, ours


def run(command, folder):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, errors="replace")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "it ran too long")


def by_hurl(program, servers, file, options):
    """What Hurl makes of it: verdict, line of the failure, what the server was asked, and captures."""
    servers.start_afresh()
    done = run([program, "--json", "--no-color", *options, str(file)], servers.folder)
    verdict = {0: "passes", 2: "refused"}.get(done.returncode, "fails")
    line = re.search(r"--> [^\n]*?:(\d+):\d+", done.stderr)
    captures = {}
    report = next((line for line in reversed(done.stdout.split("\n")) if line.startswith('{"cookies"')), None)
    if verdict == "passes" and report:
        entries = json.loads(report)["entries"]
        captures = {one["name"]: one["value"] for entry in entries for one in entry["captures"]}
    return {"verdict": verdict, "line": line and int(line[1]), "why": first_line(done.stderr), "asked": servers.asked(), "captures": captures}


def by_truetail(servers, file, options):
    servers.start_afresh()
    command = [BINARY, "run", "--flow", str(file), "-r", "1", "-d", "1s", "--no-preflight", "--no-save", "--json", "--quiet", *options]
    done = run(command, servers.folder)
    if not done.stdout.strip():
        line, why = refusal(done.stderr)
        return {"verdict": "refused", "line": line, "why": why, "asked": servers.asked()}
    found = json.loads(done.stdout)
    verdict = "passes" if found["sessions"]["tally"]["completed"] == 1 else "fails"
    ended = [note for note in found["notes"] if "line " in json.dumps(note)]
    why = json.dumps(ended[0]) if ended else json.dumps([step.get("ended_here") for step in found["sessions"]["steps"]])
    line = re.search(r"line (\d+)", why)
    return {"verdict": verdict, "line": line and int(line[1]), "why": why, "asked": servers.asked()}


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(" ".join(lines[:6]).split())[:300]


def captured(program, servers, file, options, captures):
    """Whether both programs have captured the same: a last request says it to the server, or asserts the length of a list."""
    texts = {name: value for name, value in captures.items() if not isinstance(value, (list, dict))}
    lists = {name: value for name, value in captures.items() if isinstance(value, list)}
    form = "".join(f"{name}: {{{{{name}}}}}\n" for name in texts)
    asserts = "".join(f'variable "{name}" count == {len(value)}\n' for name, value in lists.items())
    more = file.with_name(f"captured-{file.name}")
    text = file.read_text(errors="surrogateescape")
    more.write_text(f"{text}\n\nPOST http://localhost:8000/__captured\n[Form]\n{form}HTTP 200\n[Asserts]\n{asserts}", errors="surrogateescape")
    theirs = by_hurl(program, servers, more, options[0])
    ours = by_truetail(servers, more, options[1])
    more.unlink()
    same = theirs["verdict"] == ours["verdict"] == "passes" and theirs["asked"][-1:] == ours["asked"][-1:]
    return None if same else f"captures: {theirs['asked'][-1:]} {theirs['why']} and not {ours['asked'][-1:]} {ours['why']}"


def goes_elsewhere(file):
    text = file.read_text(errors="replace")
    hosts = re.findall(r"^[A-Z]+ +https?://([^/:\s?{]+)", text, re.M)
    return any(host not in ("localhost", "127.0.0.1", "[") and not host.startswith("[") for host in hosts)


def compare(program, servers, file):
    """Result and reason for a file."""
    options = options_of(file)
    if goes_elsewhere(file):
        ours = run([BINARY, "simulate", "01-healthy", "--flow", str(file), *options[1], "--json"], servers.folder)
        return ("elsewhere", None, None) if ours.returncode == 0 else ("refused", *refusal(ours.stderr))
    theirs, ours = by_hurl(program, servers, file, options[0]), by_truetail(servers, file, options[1])
    if ours["verdict"] == "refused":
        kind = "refused" if ours["line"] or theirs["verdict"] == "refused" else "different"
        return kind, ours["line"], ours["why"]
    if theirs["verdict"] != ours["verdict"]:
        return "different", ours["line"] or theirs["line"], f"hurl {theirs['verdict']}, truetail {ours['verdict']}: {theirs['why']} | {ours['why']}"
    if theirs["asked"] != ours["asked"]:
        pairs = zip(theirs["asked"] + [None], ours["asked"] + [None])
        apart = next(((a, b) for a, b in pairs if a != b), (len(theirs["asked"]), len(ours["asked"])))
        return "different", None, f"requests: {json.dumps(apart[0])[:400]} and not {json.dumps(apart[1])[:400]}"
    if theirs["verdict"] == "fails" and ours["line"] and theirs["line"] != ours["line"]:
        return "different", ours["line"], f"fails in line {theirs['line']}: {theirs['why']} | {ours['why']}"
    if theirs["captures"]:
        problem = captured(program, servers, file, options, theirs["captures"])
        if problem:
            return "different", None, problem
    return "same", theirs["line"], theirs["verdict"]


def refusal(text):
    """Its line, and what is wrong there."""
    found = re.search(r"\.hurl:(\d+): (.*)", text)
    return (int(found[1]), found[2]) if found else (None, first_line(text))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("checkout", type=Path)
    options.add_argument("--hurl", default=shutil.which("hurl"), metavar="PROGRAM")
    options.add_argument("--only", default="", metavar="TEXT")
    options.add_argument("--json", metavar="FILE")
    asked = options.parse_args()
    if not asked.hurl:
        sys.exit("there is no hurl; tools/install.sh hurl installs it, --hurl PROGRAM names it")
    table = {}
    with tempfile.TemporaryDirectory(prefix="truetail-hurl-") as work:
        python = Path(work) / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", Path(work) / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
        folder = Path(work) / "hurl"
        shutil.copytree(asked.checkout / "integration/hurl", folder)
        (folder / "build").mkdir(exist_ok=True)
        servers = Servers(python, folder)
        time.sleep(1)
        try:
            for file in sorted(path.relative_to(folder) for path in folder.rglob("*.hurl")):
                if asked.only not in str(file):
                    continue
                os.chdir(folder)
                result, line, why = compare(asked.hurl, servers, file)
                table[str(file)] = {"result": result, "line": line, "why": why}
                where = f"line {line}" if line else ""
                print(f"{result:<10}{str(file):<55}{where:<10}{KNOWN.get(str(file)) or why or ''}", flush=True)
        finally:
            servers.stop()
    counts = Counter(row["result"] for row in table.values())
    print(f"{len(table)} files: " + ", ".join(f"{count} {result}" for result, count in counts.most_common()))
    if asked.json:
        Path(asked.json).write_text(json.dumps(table, indent=1) + "\n")
    unexplained = [name for name, row in table.items() if row["result"] == "different" and name not in KNOWN]
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
