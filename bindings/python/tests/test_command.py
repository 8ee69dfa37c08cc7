"""The command that the wheel installs."""

import csv
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


def test_single_requests_of_a_saved_run(tmp_path: Path) -> None:
    out = tmp_path / "saved"
    with truetail.serve(baseline="1ms") as server:
        (tmp_path / "two.txt").write_text(f"GET {server.url}/a\n\nGET {server.url}/b\n")
        load = ["run", "--targets", str(tmp_path / "two.txt"), "-r", "200", "-n", "30", "--trace", "--quiet", "--out", str(out)]
        told = subprocess.run([TRUETAIL, *load], capture_output=True, text=True, timeout=AWAIT_S)
    assert told.returncode not in (1, 2), told.stderr
    rows = list(csv.DictReader((out / "samples.csv").read_text().splitlines()))
    frame = truetail.load(out).to_pandas()
    for column in ("trace_id", "connection"):
        assert [row[column] for row in rows] == [str(value) for value in frame[column]]
    names = list(frame["target"].cat.categories)
    assert [name.endswith(end) for name, end in zip(names, ("/a", "/b"))] == [True, True]
    assert [names[int(row["target"])] for row in rows] == list(frame["target"])
    with (out / "samples.csv").open("w", newline="") as file:
        damaged = csv.DictWriter(file, rows[0])
        damaged.writeheader()
        damaged.writerows([{**row, "target": "7"} for row in rows[:1]] + rows[1:])
    assert list(truetail.load(out).to_pandas()["target"].isna()) == [True] + [False] * 29
