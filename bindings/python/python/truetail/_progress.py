"""Progress on standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

REDRAW_S = 0.5
LINE_S = 10.0


class _HasProgress(Protocol):
    def progress_text(self) -> str: ...


@contextmanager
def shown(run: _HasProgress, wanted: bool) -> Iterator[None]:
    """Prints the progress of ``run`` during the block: a line that is redrawn on a terminal, otherwise one every 10 s."""
    if not wanted:
        yield
        return
    over = threading.Event()
    printer = threading.Thread(target=_print_progress, args=(run, over), name="truetail-progress", daemon=True)
    printer.start()
    try:
        yield
    finally:
        over.set()
        printer.join()


def _print_progress(run: _HasProgress, over: threading.Event) -> None:
    terminal = sys.stderr.isatty()
    clear = "\r\x1b[K" if terminal else ""
    while not over.wait(REDRAW_S if terminal else LINE_S):
        print(f"{clear}{run.progress_text()}", end="" if terminal else "\n", file=sys.stderr, flush=True)
    if terminal:
        print(clear, end="", file=sys.stderr, flush=True)
