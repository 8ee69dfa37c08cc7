#!/usr/bin/env python3
"""Counts turns of phrase in Rust comments that plain English rarely needs: `python3 tests/words.py [--list NAME] [FOLDER…]`.

A habit is over its limit if it occurs more often per 1,000 comment lines than ripgrep and hyperfine allow with room to spare.
A single hit may be right. `--list` prints the places of one habit. `tests/tidy.py` runs the same count. The exit code is 1 if
a habit is over its limit, or if a comment is longer than 120 columns.
"""

import re
import sys
from pathlib import Path

MAX_COLUMNS = 120
FILES = r"(?:file|field|line|column|crate|module|folder|binary|socket)"
# Name, pattern, hits allowed per 1,000 comment lines.
HABITS = [
    ("where for if", rf"\b[Ww]here (?!(?:the|a|an) {FILES}s? (?:is|are|lives?)\b)\w", 12.0),
    ("those as a pronoun", r"\b[Tt]hose (?:that|of|who|which|in|with|are|is|were|it|alone|from|on)\b", 2.0),
    ("is none", r"\b(?:is|are|was|has|have|had) none\b", 0.5),
    ("so many, so long", r"\b[Ss]o (?:many|long|much|far|often)\b(?! as\b)", 1.0),
    ("stands", r"\b(?:stands?|stood)\b", 0.5),
    ("is to do", r"\b(?:is|are|was|were) to [a-z]+\b", 5.0),
    ("goes on", r"\b(?:goes|go|went) on\b", 0.5),
    ("nobody", r"\b(?:[Nn]o|[Ss]ome)body\b", 0.8),
    ("whoever, whatever", r"\b[Ww](?:hoever|hatever|hichever)\b", 1.0),
    ("of which", r"\b(?:of|by|in|from|for|with|to|at) (?:which|whom)\b", 6.0),
    ("by itself, of its own", r"\b(?:by itself|by themselves|of its own|of their own)\b", 1.0),
    ("becomes of", r"\b(?:becomes?|became) of\b", 0.5),
    ("alone", r"\w alone\b", 1.0),
    ("in that way", r"\bin (?:whatever|this|that|the same|any) way\b", 1.0),
]
# Share of comment blocks that may open with a noun clause, in percent.
OPENING = "noun clause as the opening"
MAX_OPENINGS = 5.0
NOUN_CLAUSE = re.compile(r"(?:What|Who|Whose|Where|When|How|Whether)\b(?!.*\?)")
COMMENT = re.compile(r"\s*//[/!]?\s?(.*)")


def comments(folder):
    """(file, number, text, whether it begins a block) of each comment line below a folder."""
    for path in sorted(Path(folder).rglob("*.rs")):
        if "target" in path.parts:
            continue
        last = None
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if found := COMMENT.match(line):
                yield path, number, line, found[1].strip(), last != number - 1
                last = number


class Count:
    """Comment lines, blocks of them, the places of each habit by name, and lines that are too long."""

    def __init__(self, folders):
        self.lines = self.blocks = 0
        self.places = {name: [] for name, *_ in HABITS} | {OPENING: []}
        self.long = []
        for folder in folders:
            for path, number, line, text, begins in comments(folder):
                self.add(f"{path}:{number}", line, text, begins)

    def add(self, place, line, text, begins):
        self.lines, self.blocks = self.lines + 1, self.blocks + begins
        for name, pattern, _ in HABITS:
            self.places[name] += [f"{place}: {text}"] * len(re.findall(pattern, text))
        if begins and NOUN_CLAUSE.match(text):
            self.places[OPENING].append(f"{place}: {text}")
        if len(line) > MAX_COLUMNS:
            self.long.append(f"{place}: {len(line)} columns of comment; at most {MAX_COLUMNS}")

    def rows(self):
        """(name, hits, rate, limit, unit) of each habit."""
        for name, _, limit in HABITS:
            hits = len(self.places[name])
            yield name, hits, 1000 * hits / max(self.lines, 1), limit, "per 1,000 comment lines"
        hits = len(self.places[OPENING])
        yield OPENING, hits, 100 * hits / max(self.blocks, 1), MAX_OPENINGS, "% of comment blocks"

    def findings(self):
        """One line for each habit that is over its limit, and for each comment that is too long."""
        for name, hits, rate, limit, unit in self.rows():
            if rate > limit:
                yield f"comments: '{name}' {hits} times, {rate:.2f} {unit}; at most {limit}; tests/words.py --list '{name}' shows them"
        yield from self.long


def main():
    arguments = sys.argv[1:]
    listed = arguments.pop(arguments.index("--list") + 1) if "--list" in arguments else None
    count = Count([one for one in arguments if one != "--list"] or ["crates", "bindings"])
    if listed:
        print(*count.places[listed], sep="\n")
        return 0
    for name, hits, rate, limit, unit in count.rows():
        print(f"{name:26} {hits:6} {rate:8.2f} of {limit:4.1f} {unit}")
    found = list(count.findings())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
