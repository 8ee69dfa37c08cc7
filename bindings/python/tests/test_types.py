"""The package under a type checker."""

import subprocess
import sys
from pathlib import Path

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
