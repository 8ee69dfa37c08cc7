"""How a run stands, on standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

REDRAW_S = 0.5
LINE_S = 10.0


class _Tells(Protocol):
    def progress_text(self) -> str: ...


@contextmanager
def shown(run: _Tells, wanted: bool) -> Iterator[None]:
    """Tells how ``run`` stands while the block goes on: a line that is redrawn on a terminal, else one now and then."""
    if not wanted:
        yield
        return
    over = threading.Event()
    teller = threading.Thread(target=_tell, args=(run, over), name="truetail-progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def _tell(run: _Tells, over: threading.Event) -> None:
    terminal = sys.stderr.isatty()
    clear = "\r\x1b[K" if terminal else ""
    while not over.wait(REDRAW_S if terminal else LINE_S):
        print(f"{clear}{run.progress_text()}", end="" if terminal else "\n", file=sys.stderr, flush=True)
    if terminal:
        print(clear, end="", file=sys.stderr, flush=True)
