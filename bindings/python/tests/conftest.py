"""What several modules of tests use."""

import threading
from collections.abc import Iterator

import pytest
from shop import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
