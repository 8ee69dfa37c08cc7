#!/usr/bin/env python3
"""Draws a still of `truetail run --watch` as SVG: tools/watch-picture.py TRUETAIL docs/img/watch.svg

Needs tmux and the package rich. The machine should be idle, or the picture shows a verdict about this machine.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS, LINES = 100, 30
DURATION_S, STILL_AT_S = 30, 26
ADDRESS = "127.0.0.1:18080"


def tmux(*words: str) -> str:
    return subprocess.run(["tmux", "-L", "truetail-picture", *words], check=True, capture_output=True, text=True).stdout


def screen(truetail: Path) -> str:
    """Returns the screen of a run against a service that pauses, with its escape sequences."""
    with tempfile.TemporaryDirectory() as folder:
        serve = [truetail, "serve", "--scenario", "04-gc-pauses", "--listen", ADDRESS]
        run = f"{truetail} run http://{ADDRESS}/api -r 500 -d {DURATION_S}s --watch --out {folder}/run"
        gates = "--slo 'p99 < 250ms' --slo 'error-rate < 1%'"
        with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                assert server.stdout and "listening" in server.stdout.readline()
                tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), f"{run} {gates}")
                time.sleep(STILL_AT_S)
                return tmux("capture-pane", "-e", "-p")
            finally:
                subprocess.run(["tmux", "-L", "truetail-picture", "kill-server"], check=False)
                server.terminate()


def svg(ansi: str) -> str:
    """Returns the screen as SVG that loads nothing."""
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(ansi.rstrip("\n")), no_wrap=True, overflow="crop")
        picture = console.export_svg(title="truetail run --watch", theme=MONOKAI, unique_id="watch")
    return re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)


def main() -> None:
    truetail, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.write_text(svg(screen(truetail)), encoding="utf-8")


if __name__ == "__main__":
    main()
