"""The package under a type checker."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import truetail
from truetail import _types

HERE = Path(__file__).parent.parent
AWAIT_S = 300


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *arguments], cwd=HERE, capture_output=True, text=True, timeout=AWAIT_S)


def test_everything_is_typed() -> None:
    checked = mypy("mypy")
    assert checked.returncode == 0, checked.stdout


def test_the_stubs_are_what_there_is() -> None:
    checked = mypy("mypy.stubtest", "truetail._native", "--mypy-config-file", "pyproject.toml")
    assert checked.returncode == 0, checked.stdout


def test_a_wrong_argument_is_found_before_it_is_run(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    session = "async def session(s: truetail.Session) -> None:\n    await s.get('/', stepp='a')\n"
    wrong.write_text(f"import truetail\n\ntruetail.bench(print, rate=[], model='half')\n\n{session}")
    checked = mypy("mypy", "--strict", str(wrong))
    assert checked.returncode == 1 and '"rate"' in checked.stdout and '"model"' in checked.stdout, checked.stdout
    assert '"stepp"' in checked.stdout, checked.stdout


def test_each_name_of_a_metric_and_a_dialect_is_typed() -> None:
    """An error names all that there are."""
    result = truetail.simulate("02-single-hiccup")
    calls: list[tuple[Any, Callable[[], object]]] = [
        (_types.Metric, lambda: result.quantile(0.5, "none")),  # type: ignore[arg-type]
        (_types.LlmApi, lambda: truetail.run("http://127.0.0.1:1", rate=1, llm="none")),  # type: ignore[arg-type]
        (_types.StreamKind, lambda: truetail.run("http://127.0.0.1:1", rate=1, stream="none")),  # type: ignore[arg-type]
    ]
    for names, call in calls:
        with pytest.raises(ValueError) as raised:
            call()
        known = re.findall("'([^']+)'", str(raised.value).partition("choose one of")[2])
        assert sorted(known) == sorted(get_args(names))
