"""Servers that tests talk to."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import TypeVar

AnyServer = TypeVar("AnyServer", bound=ThreadingHTTPServer)


@contextmanager
def serving(server: AnyServer) -> Iterator[AnyServer]:
    """It serves until the end of the block."""
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
