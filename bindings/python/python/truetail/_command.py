"""The command ``truetail``."""

from __future__ import annotations

import signal
import sys

from truetail import _native


def main() -> int:
    """Does what ``truetail`` on the command line does, with its exit codes and its Ctrl-C."""
    # The interpreter's handler would only record a Ctrl-C; the command handles it itself.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["truetail", *sys.argv[1:]])
