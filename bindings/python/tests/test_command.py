"""The command that the wheel installs."""

import json
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import truetail

TRUETAIL = Path(sysconfig.get_path("scripts")) / "truetail"
AWAIT_S = 60


@pytest.mark.parametrize("command", [[str(TRUETAIL)], [sys.executable, "-m", "truetail"]])
def test_it_is_the_command(command: list[str]) -> None:
    told = subprocess.run([*command, "simulate", "02", "--json"], capture_output=True, text=True, timeout=AWAIT_S)
    (series,) = json.loads(told.stdout)["series"]
    assert told.returncode == 0 and series["tally"]["planned"] == 60_000
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=AWAIT_S)
    assert version.stdout == f"truetail {truetail.__version__}\n"


def test_its_exit_codes() -> None:
    wrong = subprocess.run([TRUETAIL, "run", "nowhere"], capture_output=True, text=True, timeout=AWAIT_S)
    assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1 and wrong.stdout == ""


def test_ctrl_c_still_gives_a_result() -> None:
    with truetail.serve(baseline="1ms") as server:
        arguments = [str(TRUETAIL), "run", server.url, "-r", "100", "-d", "60s", "--no-save", "--json"]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            while server.admitted < 20:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            told, _ = process.communicate(timeout=AWAIT_S)
        finally:
            process.kill()
            process.wait()
    run = json.loads(told)
    assert run["interrupted"] and 20 <= run["tally"]["planned"] < 6000
    assert process.returncode == 130, "ended by SIGINT, reported all the same"
