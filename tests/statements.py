"""Statements of Rust sources that tests/tidy.py counts: lines of code, and `let (a, b) = (x, y);` that could be two statements."""

import re

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\[^\n]{1,10}?)'|'\w+|\w+|\s+|.""", re.S
)
COMMENT = re.compile(r"^\s*(?://|/\*|\*/|\* )")
LET = re.compile(r"\blet \(")


def lines_of_code(text):
    """The number of lines that are neither blank nor a comment."""
    return sum(1 for line in text.splitlines() if line.strip() and not COMMENT.match(line))


def group(text, position):
    """The parts of the tuple that opens at `position`, and where it ends; (None, None) for one that never ends."""
    depth, parts, start = 0, [], position + 1
    while position < len(text):
        match = TOKEN.match(text, position)
        position, token = match.end(), match.group()
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
        if (depth == 0) or (token == "," and depth == 1):
            parts.append(text[start : match.start()].strip())
            start = position
        if depth == 0:
            return [part for part in parts if part], position
    return None, None


def names(text):
    """The names that an expression or a pattern mentions, without fields and methods."""
    found, before = set(), ""
    for match in TOKEN.finditer(text):
        token = match.group()
        if re.fullmatch(r"[a-z_]\w*", token) and before != "." and token not in ("mut", "ref"):
            found.add(token)
        elif '"' in token:
            found.update(re.findall(r"\{(\w+)", token))
        before = token
    return found


def needless_tuples(text):
    """The statements `let (a, b) = (x, y);` that mean the same as two. A swap is none."""
    for match in LET.finditer(text):
        pattern, end = group(text, match.end() - 1)
        equals = pattern and re.compile(r"\s*=\s*(?=\()").match(text, end)
        if not equals:
            continue
        values, end = group(text, equals.end())
        if not values or text[end : end + 1] != ";" or len(values) != len(pattern):
            continue
        if not any(names(name) & names(" ".join(values[i + 1 :])) for i, name in enumerate(pattern)):
            yield " ".join(text[match.start() : end].split())
