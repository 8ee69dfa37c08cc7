"""The plugin of pytest, in sessions of their own."""

import subprocess
import sys
from pathlib import Path

AWAIT_S = 120
USES = "def test_it(truetail_bench):\n    truetail_bench(lambda: None, rate=500, duration='100ms', {options})\n"


def session(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_mine.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=AWAIT_S)


def test_a_run_is_told_at_the_end_and_its_result_is_returned(tmp_path: Path) -> None:
    source = "def test_it(truetail_bench):\n    assert truetail_bench(print, 500, '100ms', fail_if=['p50 > 1h']).count == 50\n"
    ended = session(tmp_path, source, "-q", "--junitxml=junit.xml")
    assert ended.returncode == 0, ended.stdout
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("test_mine.py::test_it")]
    assert "print: " in line and "50 arrivals at 500" in line and "Captured truetail" not in ended.stdout
    assert '<property name="truetail" value="print: ' in (tmp_path / "junit.xml").read_text()


def test_a_gate_that_fails_fails_its_test_with_the_table(tmp_path: Path) -> None:
    ended = session(tmp_path, USES.format(options="fail_if=['p50 > 1ns'], slo=['p90 < 1h']"))
    assert ended.returncode == 1 and "failed: p50 > 1ns: " in ended.stdout, ended.stdout
    assert "failed: p90" not in ended.stdout and "1 failed" in ended.stdout
    assert "Captured truetail call" in ended.stdout and "response time" in ended.stdout
    assert "truetail_bench(lambda" in ended.stdout, "the line of the test is shown"


def test_an_open_gate_or_an_invalid_run_fails_unless_it_may_be_open(tmp_path: Path) -> None:
    source = (
        "import pytest\ndef fails(): raise ValueError('no')\n"
        "@pytest.mark.parametrize('allow_open', [False, True])\n"
        "def test_it(truetail_bench, allow_open):\n"
        "    truetail_bench(fails, rate=500, duration='100ms', allow_open=allow_open)\n"
    )
    ended = session(tmp_path, source)
    assert ended.returncode == 1 and "1 failed, 1 passed" in ended.stdout, ended.stdout
    assert "INVALID: " in ended.stdout


def test_a_session_without_it_prints_and_imports_nothing(tmp_path: Path) -> None:
    source = "import sys\ndef test_it():\n    assert 'truetail' not in sys.modules and 'pytest_truetail' in sys.modules\n"
    ended = session(tmp_path, source)
    assert ended.returncode == 0 and "truetail" not in ended.stdout.partition("collected")[2], ended.stdout
