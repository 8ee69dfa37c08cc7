#!/usr/bin/env python3
"""Remakes the tables of docs/certified.md: `tools/certified.py [--truetail FILE] [--keep] [ADAPTER …]`.

Runs `truetail certify --suite` with each adapter of examples/adapters (or with those named), one after the other, and keeps the results in
docs/certified/NAME.json. A tool that is not installed is left out, and its earlier result stays. With --keep nothing is run: the tables are
written from the results that are there. The machine should be idle; a tool takes about two minutes.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/certified.md"
RESULTS = ROOT / "docs/certified"
ADAPTERS = ROOT / "examples/adapters"
BEGIN, END = "<!-- begin: tools/certified.py -->", "<!-- end -->"
WORDS = {"pass": "pass", "fail": "**FAIL**", "cannot_tell": "?", "not_tested": "–"}


def run(truetail, name):
    """Runs the suite with one adapter, and keeps its result."""
    command = [truetail, "certify", "--suite", "--quiet", "--json", "--adapter", ADAPTERS / f"{name}.toml"]
    # The adapter of truetail itself finds it there.
    path = {**os.environ, "PATH": f"{truetail.parent}:{os.environ['PATH']}"}
    done = subprocess.run([*command, "--out", ROOT / "target/certified" / name], cwd=ROOT, capture_output=True, text=True, env=path)
    if done.returncode in (0, 3, 4) and done.stdout:
        (RESULTS / f"{name}.json").write_text(without_folders(done.stdout))
    else:
        print(f"{name}: {done.stderr.strip()}", file=sys.stderr)


def without_folders(text):
    """The result, whose commands do not say where programs lie on this machine."""
    result = json.loads(text)
    for row in result["situations"]:
        if row["command"]:
            row["command"][0] = Path(row["command"][0]).name
    return json.dumps(result, indent=1).replace(str(Path.home()), "~") + "\n"


def escaped(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def tables(results):
    """Returns the table of all tools, and what was found of each."""
    names = [row["situation"] for row in results[0]["situations"]]
    lines = ["| tool | version | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for result in results:
        states = [WORDS[row["state"]] for row in result["situations"]]
        lines.append(f"| [{result['tool']}](#{anchor(result)}) | {result['version']} | " + " | ".join(states) + " |")
    for result in results:
        lines += ["", f"### {heading(result)}", "", "| situation | result | found |", "|---|---|---|"]
        lines += [f"| {row['situation']} | {WORDS[row['state']]} | {escaped(row['found'])} |" for row in result["situations"]]
        command = next((row["command"] for row in result["situations"] if row["command"]), [])
        lines += ["", "    " + shown(command)]
    return "\n".join(lines)


def heading(result):
    return f"{result['tool']} {result['version']}" if result["version"] != "unknown" else result["tool"]


def anchor(result):
    kept = [letter for letter in heading(result).lower() if letter.isalnum() or letter in " -"]
    return "".join(kept).replace(" ", "-")


def shown(command):
    """The command of the first situation, without line breaks, and without the folder of the program."""
    words = [Path(command[0]).name, *command[1:]] if command else []
    text = " ".join(word if word and not set(word) & set(" \n'\"$&|<>") else "'" + word.replace("'", "'\\''") + "'" for word in words)
    text = text.replace(str(Path.home()), "~").replace("\n", " ")
    return text if len(text) <= 160 else text[:157] + "..."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truetail", default=ROOT / "target/release/truetail", type=Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("adapters", nargs="*")
    given = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if not given.keep:
        for name in given.adapters or sorted(file.stem for file in ADAPTERS.glob("*.toml")):
            run(given.truetail.resolve(), name)
    results = [json.loads(file.read_text()) for file in sorted(RESULTS.glob("*.json"))]
    if not results:
        sys.exit(f"there are no results in {RESULTS}")
    results.sort(key=lambda result: (-result["passed"], result["failed"], result["tool"]))
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(results)}\n\n{END}{after}")


main()
