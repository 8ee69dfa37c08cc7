#!/usr/bin/env python3
"""Checks the structure of the Rust sources: `python3 tests/tidy.py`. One line a finding; exit code 1 where there is any.

1. No file of a `src` folder, and no script or style sheet of an `assets` folder, has more than 400 lines of code, blank lines and
   comments not counted.
2. No circle of files inside a crate. File A depends on file B where A names an item that B defines; re-exports (`pub use`)
   are followed to the definition and are no dependency themselves, and neither is `mod x;`. Test modules are left out.
3. No crate imports from one that stands below it in the table of ARCHITECTURE.md.
4. No struct has more than 12 fields, but for those in ALLOWED_STRUCTS.
5. What a user names is opened by `truetail_run::input`, which refuses pipes and devices and bounds the bytes: nobody else opens a
   file for reading, but for those in ALLOWED_TO_OPEN.
6. Comments keep the limits of tests/words.py.
7. `let (a, b) = (x, y);` is written as two statements, unless it swaps.
8. Limits are named MAX_, as Rust names them, and not MOST_.
9. No step of the engine's worker reaches itself (tests/steps.py).

What it reads is text, not syntax: it knows the style of this repository (rustfmt, one `mod` a file). `--self-test` checks
it; a folder as the argument is checked in place of this repository.
"""

import re
import sys
import tempfile
from pathlib import Path

import statements
import steps
import words

MAX_LINES = 400
MAX_FIELDS = 12

WIRE = "mirrors a file format, field by field"
OPTIONS = "mirrors the options of a command line, field by field"
ROW = "a row of a printed table, column by column"
ALLOWED_STRUCTS = {
    ("crates/run", "RunFile"): WIRE,
    ("crates/run", "SampleRow"): WIRE,
    ("crates/model", "RequestRecord"): "what a row of samples.csv holds, column by column",
    ("crates/run", "Facts"): WIRE,
    ("crates/run", "OfferedLoad"): WIRE,
    ("crates/run", "GeneratorStats"): WIRE,
    ("crates/run", "Findings"): WIRE,
    ("crates/lab", "ToolRun"): WIRE,
    ("crates/analysis", "LeagueRow"): ROW,
    ("crates/cli", "RunArgs"): OPTIONS,
    ("crates/cli", "LoadArgs"): OPTIONS,
    ("crates/model", "Snapshot"): "all that is recorded of a run; built and taken apart once a run",
    ("crates/model", "Recorder"): "the books of one worker share; each field is one of them",
}

# What is read there is of the system, or truetail's own.
ALLOWED_TO_OPEN = ("crates/run/src/input.rs", "crates/reactor/src/linux/", "crates/lab/src/trial.rs",
                   "crates/tools/src/jars.rs", "crates/cli/src/output_folder.rs")
OPENS = re.compile(r"\bfs::read(?:_to_string)?\(|\bFile::open\(")

ITEM = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|unsafe\s+|async\s+|const\s+(?=fn|unsafe)|extern\s+\"C\"\s+)*"
    r"(?:struct|enum|union|trait|fn|const|static(?:\s+mut)?|type|macro_rules!)\s+(\w+)",
    re.M,
)


def without_comments_and_tests(text):
    """The code of a file: no comments, no string contents, no `#[cfg(test)]` module that is written inside it."""
    text = re.sub(r"^\s*#\[cfg\(test\)\]\n\s*(?:pub(?:\([^)]*\))?\s+)?mod \w+ \{.*?^\}$", "", text, flags=re.M | re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def expand(tree):
    """`a::{b, c::d as e}` as [(path, name it has here)]."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        path, _, alias = tree.partition(" as ")
        parts = [part.strip() for part in path.split("::")]
        if parts[-1] == "self":
            parts.pop()
        return [(parts, alias.strip() or parts[-1])] if parts else []
    prefix, inner, depth, start = tree[:brace], tree[brace + 1 : tree.rfind("}")], 0, 0
    pieces = []
    for i, letter in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            pieces.append(inner[start:i])
            start = i + 1
    return [leaf for piece in pieces if piece.strip() for leaf in expand(prefix + piece.strip())]


class Crate:
    """The modules of one crate, as tuples of names from its root: `("record", "tally")`."""

    def __init__(self, src):
        self.files, self.code, self.children, self.tests = {}, {}, {}, set()
        for root in ("lib.rs", "main.rs"):
            if (src / root).exists():
                self.read((), src / root, src)
                break
        self.items = {m: set(ITEM.findall(code)) for m, code in self.code.items()}
        self.uses = {m: self.uses_of(m) for m in self.code}

    def read(self, module, path, folder):
        text = path.read_text()
        self.files[module], self.code[module] = path, without_comments_and_tests(text)
        self.children[module] = set()
        for attributes, name in re.findall(r"((?:^\s*#\[[^\n]*\]\n)*)^\s*(?:pub(?:\([^)]*\))?\s+)?mod (\w+);", text, re.M):
            child = next((p for p in (folder / f"{name}.rs", folder / name / "mod.rs") if p.exists()), None)
            if child and "cfg(test)" not in attributes:
                self.children[module].add(name)
                self.read(module + (name,), child, folder / name)

    def absolute(self, module, parts):
        """The path from the root of the crate; None for a path into another crate."""
        parts = list(parts)
        if parts[0] == "crate":
            return tuple(parts[1:])
        if parts[0] == "self":
            return module + tuple(parts[1:])
        if parts[0] == "super":
            while parts and parts[0] == "super":
                module, parts = module[:-1], parts[1:]
            return module + tuple(parts)
        return module + tuple(parts) if parts[0] in self.children[module] else None

    def uses_of(self, module):
        """{name here: path} of the `use` declarations, private and public."""
        found = {}
        for tree in re.findall(r"\buse\s+([^;]+);", self.code[module]):
            for parts, name in expand(tree):
                path = self.absolute(module, parts)
                if path is not None:
                    found[name] = path
        return found

    def definition(self, path, depth=0):
        """The module that defines what `path` names; None where it names a module or nothing of this crate."""
        if depth > 20 or path in self.files:
            return None
        for cut in range(len(path) - 1, -1, -1):
            module, name = path[:cut], path[cut]
            if module not in self.files:
                continue
            if name in self.items[module]:
                return module
            if name in self.uses[module]:
                target = self.uses[module][name]
                return self.definition(target + path[cut + 1 :], depth + 1) if target != path else None
            return None
        return None

    def edges(self):
        """{(file, file): item} where the first names an item that the second defines."""
        edges = {}
        for module, code in self.code.items():
            body = re.sub(r"\bpub(?:\([^)]*\))?\s+use\s+[^;]+;", "", code)
            named = [self.absolute(module, parts) for tree in re.findall(r"\buse\s+([^;]+);", body) for parts, _ in expand(tree)]
            body = re.sub(r"\buse\s+[^;]+;", "", body)
            for chain in re.findall(r"\b\w+(?:::\w+)+", body):
                parts = chain.split("::")
                if parts[0] in self.uses[module]:
                    named.append(self.uses[module][parts[0]] + tuple(parts[1:]))
                else:
                    named.append(self.absolute(module, parts))
            for path in named:
                target = self.definition(path) if path else None
                if target is not None and target != module:
                    edges.setdefault((self.files[module], self.files[target]), path[-1])
        return edges


def circles(edges):
    """The strongly connected components of more than one file."""
    after = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)

    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for nxt in after.get(todo.pop(), ()):
                if nxt not in seen:
                    seen.add(nxt)
                    todo.append(nxt)
        return seen

    reached = {file: reach(file) for file in after}
    found = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in after if a in reached[a]}
    return sorted(found, key=lambda circle: sorted(map(str, circle)))


def structs(text):
    """(name, number of fields) of each struct with named fields."""
    for match in re.finditer(r"^(?:pub(?:\([^)]*\))?\s+)?struct (\w+)[^;{(]*\{\n(.*?)^\}", text, re.M | re.S):
        yield match[1], len(re.findall(r"^    (?:pub(?:\([^)]*\))?\s+)?\w+:", match[2], re.M))


def findings(root):
    order = re.findall(r"^\| `((?:crates|bindings)/\w+)` \|", (root / "ARCHITECTURE.md").read_text(), re.M)
    for src in sorted([*root.glob("crates/*/src"), *root.glob("bindings/*/src")]):
        home = str(src.parent.relative_to(root))
        if home not in order:
            yield f"{home}: not in the table of ARCHITECTURE.md"
            continue
        below = {name.split("/")[1] for name in order[order.index(home) :]}
        for path in sorted([*src.rglob("*.rs"), *src.parent.glob("assets/**/*.js"), *src.parent.glob("assets/**/*.css")]):
            if (lines := statements.lines_of_code(path.read_text())) > MAX_LINES:
                yield f"{path.relative_to(root)}: {lines} lines of code; at most {MAX_LINES}"
        for path in sorted(src.rglob("*.rs")):
            name, text = path.relative_to(root), path.read_text()
            code = without_comments_and_tests(text)
            for other in sorted(set(re.findall(r"\btruetail_(\w+)::", code)) & below - {home.split("/")[1]}):
                yield f"{name}: imports from crates/{other}, which stands below {home} in ARCHITECTURE.md"
            for limit in sorted(set(re.findall(r"\bMOST_\w+", code))):
                yield f"{name}: {limit} is a limit; write MAX_{limit.removeprefix('MOST_')}"
            if path.name != "tests.rs" and OPENS.search(code) and not str(name).startswith(ALLOWED_TO_OPEN):
                yield f"{name}: opens a file by itself; truetail_run::input does"
            for struct, fields in structs(code):
                if fields > MAX_FIELDS and (home, struct) not in ALLOWED_STRUCTS:
                    yield f"{name}: struct {struct} has {fields} fields; at most {MAX_FIELDS}"
        edges = Crate(src).edges()
        for circle in circles(edges):
            names = ", ".join(str(file.relative_to(src)) for file in sorted(circle))
            arrows = [(a, b, item) for (a, b), item in sorted(edges.items()) if a in circle and b in circle]
            why = "; ".join(f"{a.relative_to(src)} -> {b.relative_to(src)} ({item})" for a, b, item in arrows[:8])
            yield f"{home}: circle of {len(circle)} files: {names}: {why}"
    for path in sorted(path for folder in ("crates", "bindings", "fuzz") for path in (root / folder).rglob("*.rs")):
        for statement in statements.needless_tuples(path.read_text()):
            yield f"{path.relative_to(root)}: two statements in one: {statement}"
    if (root / "crates/engine").exists():
        yield from steps.findings(root)
    yield from words.Count([root / "crates", root / "bindings"]).findings()


def self_test():
    sources = {
        "ARCHITECTURE.md": "| `crates/low` | x |\n| `crates/high` | y |\n",
        "crates/low/src/lib.rs": "mod a;\nmod b;\nmod c;\nmod d;\npub use a::A;\n#[cfg(test)]\nmod tests {\n    use truetail_high::X;\n}\n",
        "crates/low/src/a.rs": "use crate::b;\npub struct A;\nfn f() { b::go() }\n",
        "crates/low/src/b.rs": "// use crate::c::C;\nuse crate::A;\n\n/// What it does.\npub fn go(_: A) {}\n",
        "crates/low/src/c/mod.rs": "mod e;\npub use e::E;\n",
        "crates/low/src/c/e.rs": "pub struct E {\n" + "".join(f"    f{i}: u8,\n" for i in range(13)) + "}\n",
        "crates/low/src/d.rs": "use super::c::{self, E};\nuse truetail_high::X;\nfn f(_: E) { c::E; fs::read(x) }\nconst MOST_OF: u8 = 1;\n",
        "crates/high/src/lib.rs": "use truetail_low::A;\n" + "a;\n" * 400 + "// no code\n\n",
        "crates/high/assets/room/draw.js": "a();\n" * 401,
        "crates/high/tests/it.rs": "let (a, mut b) = (f(1, 2), (3));\nlet (a, b) = (b, a);\nlet (c, d) = f();\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = list(findings(Path(folder)))
    assert len(found) == 9, found
    for part in (
        "low/src/c/e.rs: struct E has 13 fields",
        "low/src/d.rs: imports from crates/high",
        "low/src/d.rs: opens a file by itself",
        "low/src/d.rs: MOST_OF is a limit; write MAX_OF",
        "crates/low: circle of 2 files: a.rs, b.rs: a.rs -> b.rs (go); b.rs -> a.rs (A)",
        "high/src/lib.rs: 401 lines of code",
        "high/assets/room/draw.js: 401 lines of code",
        "high/tests/it.rs: two statements in one: let (a, mut b) = (f(1, 2), (3))",
        "noun clause as the opening' 1 times, 33.33 %",
    ):
        assert any(part in line for line in found), (part, found)
    assert expand("a::{self, b as c, d::{e, f}}") == [(["a"], "a"), (["a", "b"], "c"), (["a", "d", "e"], "e"), (["a", "d", "f"], "f")]


def main():
    if "--self-test" in sys.argv[1:]:
        self_test()
        steps.self_test()
        return 0
    found = list(findings(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).resolve().parent.parent))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
