"""Runs the examples of the documentation."""

import re
from pathlib import Path
from typing import Any

import pytest

import truetail
from test_bench import balanced

ROOT = Path(__file__).parents[3]


def blocks(name: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.DOTALL | re.MULTILINE)


DOCUMENT = blocks("docs/python.md")


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__example__"}
    exec(compile(code, "example", "exec"), names)
    return names


def test_the_first_example_has_ten_lines_and_sends_orders(capsys: pytest.CaptureFixture[str]) -> None:
    example = DOCUMENT[0]
    assert len([line for line in example.splitlines() if line]) == 10
    for said, short in [('duration="60s"', 'duration="1s"'), ('warmup="10s"', 'warmup="500ms"')]:
        assert said in example
        example = example.replace(said, short)
    names = run(example)
    names["orders"].close()
    result: truetail.Result = balanced(names["result"])
    assert (result.tally["planned"], result.warmup_tally["planned"]) == (1000, 500)
    assert (result.tally["responses"], result.warmup_tally["responses"]) == (1000, 500), result.notes
    assert names["server"].admitted == 1500, "each was a request to the server, and no other"
    # On a machine that stands still the table omits percentiles.
    assert "send_order" in result.table() and capsys.readouterr().out.strip() == result.table().strip()


@pytest.mark.parametrize("example", [*DOCUMENT[1:], *blocks("bindings/python/README.md")])
def test_the_others_run(example: str) -> None:
    run(example)
