"""Steps of the engine's worker: no method of `Worker` reaches itself, directly or through others. Part of tests/tidy.py.

A step that wants another one to follow notes it, and the worker's loop does it: that bounds the depth of calls and the time until
the loop looks at the clock again. What is read is text: a call is `self.NAME(` in the body of a method.
"""

import re

IMPL = re.compile(r"^impl(?:<[^\n]*>)? (\w+)(?:<[^\n]*>)? \{\n(.*?)^\}", re.M | re.S)
METHOD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?fn (\w+)", re.M)


def calls(sources, name):
    """{method: methods that it calls} of the type `name`, in the texts of its files."""
    bodies = {}
    for source in sources:
        for owner, block in IMPL.findall(re.sub(r"//[^\n]*", "", source)):
            if owner == name:
                pieces = METHOD.split(block)
                bodies.update(zip(pieces[1::2], pieces[2::2]))
    return {method: set(re.findall(r"\bself\s*\.(\w+)\(", body)) & bodies.keys() for method, body in bodies.items()}


def reached(graph, start):
    seen, todo = set(), [start]
    while todo:
        for called in graph[todo.pop()] - seen:
            seen.add(called)
            todo.append(called)
    return seen


def findings(root):
    sources = [path.read_text() for path in sorted((root / "crates/engine/src/worker").glob("*.rs")) if path.name != "tests.rs"]
    graph = calls(sources, "Worker")
    if not graph:
        yield "crates/engine/src/worker: no method of Worker found"
    again = sorted(step for step in graph if step in reached(graph, step))
    if again:
        yield f"crates/engine/src/worker: {len(again)} steps reach themselves: {', '.join(again)}"


def self_test():
    source = """impl<P: Protocol> Worker<P> {
    pub(super) fn a(&mut self) {
        // self.a()
        self.b(1);
    }

    fn b(&mut self, _: u32) {
        self
            .c();
        self.other.a();
    }

    fn c(&mut self) {
        self.d();
    }

    fn d(&mut self) {}
}

impl Other {
    fn d(&mut self) {
        self.a();
    }
}
"""
    graph = calls([source], "Worker")
    assert graph == {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": set()}, graph
    assert not any(step in reached(graph, step) for step in graph)
    graph = calls([source.replace("self.d();", "self.a();")], "Worker")
    assert [step for step in graph if step in reached(graph, step)] == ["a", "b", "c"], graph
